package main

import (
	"agentctl/discover/native"
	"agentctl/tests/realagents/install"
)

// reason says why a fact does not hold with some versions of an agent.
type reason struct {
	agent, fact string
	// from and to are the first and the last version that it is true of; "" is no bound.
	from, to string
	text     string
}

// explains reports whether the reason is about a fact with a release.
func (why reason) explains(r install.Release, fact string) bool {
	v := native.ParseVersion(r.Version)
	return why.agent == r.Agent && why.fact == fact && !v.Before(native.ParseVersion(why.from)) &&
		(why.to == "" || !native.ParseVersion(why.to).Before(v))
}

func reasons() []reason {
	return []reason{
		{
			install.ClaudeCode, "send", "", "2.1.223",
			"These versions listen for no messages (exit code 7): update Claude Code.",
		},
		{
			install.Codex, "messages", "", "0.79.0",
			"The tool call is stored when its result is there, and not shown before that. The prompt and the answer are shown.",
		},
		{
			install.Codex, "outcome", "", "0.79.0",
			"The start and the end of a turn are not recorded, nor is a tool call before its end: the outcome of a run that was killed is `unknown`.",
		},
		{
			install.Codex, "error", "", "0.80.0",
			"No error is recorded, nor the end of a turn: the outcome of a run that was refused is `unknown`.",
		},
		{
			install.Codex, "waiting", "", "0.79.0",
			"The call that needs permission is stored when it has been answered. Until then the session is listed as `running`.",
		},
		{
			install.Codex, "send", "", "0.147.0",
			"These versions take no messages (exit code 7): update Codex.",
		},
	}
}
