// Package model is a model server for tests: real agents talk to it as if it were their vendor's.
//
// It speaks Anthropic Messages (Claude Code, OpenCode, Pi) and OpenAI Responses (Codex) on loopback. What it answers
// stands in the user's own prompt, in one syntax for all agents:
//
//	[[verb argument;; verb argument …]]
//
// Each step is one call of the model; the next step is taken when a tool's result comes back. After the last step
// the turn ends with a plain text, and a prompt without a directive is answered with one. Brackets nest.
//
//	text WORDS            answer with these words
//	shell COMMAND         call the agent's shell tool
//	escalate COMMAND      the same with the wish to leave the sandbox (Codex)
//	agent PROMPT          start a sub-agent
//	question TEXT         ask the user
//	tool NAME JSON        call any tool ("namespace/name" with Codex)
//	hang [D|@GATE]        begin to answer, then fall silent for a duration, until Release(GATE), or for ever
//	delay [D|@GATE] WORDS the same before the first byte
//	error STATUS [TYPE]   an HTTP error
//	fail [CODE]           begin to answer, then the API's error event
//
// Whatever hangs ends when its client goes. What agents ask beside the turn (titles, summaries) is answered plainly.
package model
