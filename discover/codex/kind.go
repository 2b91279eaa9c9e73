package codex

import (
	"bytes"
	"cmp"
)

// recordKind is the kind of a record.
type recordKind uint8

// The kinds of records.
const (
	kindUnknown          recordKind = iota // of no interest here, or another thread's
	kindSessionMeta                        // the first record of a rollout
	kindTurnContext                        // the settings that a turn runs with
	kindSettingsApplied                    // the settings that the next turn would run with
	kindTurnStarted                        // a turn began
	kindTurnCompleted                      // a turn ended by itself, with or without an error
	kindTurnAborted                        // a turn was interrupted
	kindTurnError                          // the agent reported an error, which ends the turn
	kindReviewEntered                      // a review began
	kindReviewExited                       // a review ended
	kindContextCompacted                   // the model's context was replaced
	kindCompactionShown                    // a message to the user about it
	kindTurnsRolledBack                    // the user took back the newest turns
	kindTokenCount                         // the thread's token count so far
	kindTokenUsage                         // the tokens of one answer (0.160 and later)
	kindUserText                           // the user's words
	kindInjectedText                       // the agent's words under the user's name (0.42)
	kindAgentText                          // the model's words
	kindReasoning                          // the model's reasoning
	kindAgentItem                          // the model's words once more, as an item of the conversation with the model
	kindOtherItem                          // another item of it: instructions, a command that the user typed
	kindToolCall                           // a tool call that has a result
	kindServerToolCall                     // a tool call that may have none: of the model's server, or of the oldest versions
	kindToolResult                         // the result of a tool call
	kindOtherEvent                         // any other event; it may contain the end of a tool call
)

// eventKind is the kind of an event (event_msg).
func (r *rolloutRecord) eventKind(thread string) recordKind {
	name := r.typeName()
	switch string(name) {
	case "":
		return kindUnknown
	case "item_completed":
		r.body, r.item = r.Get("item").Object(), true
		return r.forThread(itemKind(shortString(r.body.Get("type"))), thread)
	case "thread_settings_applied":
		return r.forThread(kindSettingsApplied, thread)
	case "task_started":
		return kindTurnStarted
	case "task_complete":
		return kindTurnCompleted
	case "turn_aborted":
		return kindTurnAborted
	case "error":
		return kindTurnError
	case "thread_rolled_back":
		return kindTurnsRolledBack
	case "token_count":
		return kindTokenCount
	}
	return cmp.Or(r.legacyEventKind(name), kindOtherEvent)
}

// itemKind is the kind of an item_completed event in a paginated file (SEEN 0.147 and later) by the type of its item.
func itemKind(name []byte) recordKind {
	switch string(name) {
	case "EnteredReviewMode":
		return kindReviewEntered
	case "ExitedReviewMode":
		return kindReviewExited
	case "ContextCompaction":
		return kindCompactionShown
	case "UserMessage":
		return kindUserText
	case "AgentMessage", "Plan":
		return kindAgentText
	}
	return kindOtherEvent
}

// responseItemKind is the kind of an item of the conversation with the model (response_item).
func (r *rolloutRecord) responseItemKind() recordKind {
	r.item = true
	switch name := r.typeName(); {
	case string(name) == "reasoning":
		return kindReasoning
	case string(name) == "function_call", string(name) == "custom_tool_call":
		return kindToolCall
	case string(name) == "local_shell_call", string(name) == "web_search_call":
		return kindServerToolCall
	case bytes.HasSuffix(name, []byte("_output")):
		return kindToolResult
	case string(name) == "message" && string(shortString(r.Get("role"))) == "assistant":
		return kindAgentItem
	}
	return kindOtherItem
}

// forThread is the kind of a record that may belong to another thread, and [kindUnknown] if it does. The parent of a review gets a copy of
// the reviewer's records, which name the reviewer's thread (SEEN 0.169).
func (r *rolloutRecord) forThread(kind recordKind, thread string) recordKind {
	if of := shortString(r.Get("thread_id")); len(of) > 0 && string(of) != thread {
		return kindUnknown
	}
	return kind
}

// FromModel reports whether a record is an item that the model wrote in the conversation with it.
func (k recordKind) FromModel() bool {
	return k == kindAgentItem || k == kindReasoning || k == kindToolCall || k == kindServerToolCall
}

// conversationPart is the part of a record in the conversation.
type conversationPart uint8

const (
	partNone   conversationPart = iota
	partInput                   // the user's words or a tool's output: an answer of the model is due
	partOutput                  // an answer of the model
	partCall                    // a tool call of the model
)

// part is the record's part in the conversation. The agent's additions to the conversation are user messages too.
func (k recordKind) part() conversationPart {
	switch k {
	case kindUserText, kindInjectedText, kindToolResult:
		return partInput
	case kindAgentText, kindAgentItem, kindContextCompacted, kindCompactionShown, kindReviewExited:
		return partOutput
	case kindToolCall, kindServerToolCall, kindReasoning:
		return partCall
	}
	return partNone
}
