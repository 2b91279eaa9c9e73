package transcript

import (
	"bytes"
	"cmp"
)

// Kind is the kind of a record.
type Kind uint8

// The kinds of records.
const (
	Unknown          Kind = iota // of no interest here, or another thread's
	SessionMeta                  // the first record of a rollout
	TurnContext                  // the settings that a turn runs with
	SettingsApplied              // the settings that the next turn would run with
	TurnStarted                  // a turn began
	TurnCompleted                // a turn ended by itself, with or without an error
	TurnAborted                  // a turn was interrupted
	TurnError                    // the agent reported an error, which ends the turn
	ReviewEntered                // a review began
	ReviewExited                 // a review ended
	ContextCompacted             // the model's context was replaced
	CompactionShown              // a message to the user about it
	TurnsRolledBack              // the user took back the newest turns
	TokenCount                   // the thread's token count so far
	TokenUsageRecord             // the tokens of one answer (0.160 and later)
	UserText                     // the user's words
	InjectedText                 // the agent's words under the user's name (0.42)
	AgentText                    // the model's words
	Reasoning                    // the model's reasoning
	AgentItem                    // the model's words once more, as an item of the conversation with the model
	OtherItem                    // another item of it: instructions, a command that the user typed
	ToolCall                     // a tool call that has a result
	ServerToolCall               // a tool call that may have none: of the model's server, or of the oldest versions
	ToolResult                   // the result of a tool call
	OtherEvent                   // any other event; it may contain the end of a tool call
)

// eventKind is the kind of an event (event_msg).
func (r *Record) eventKind(thread string) Kind {
	name := r.typeName()
	switch string(name) {
	case "":
		return Unknown
	case "item_completed":
		r.body, r.item = r.Get("item").Object(), true
		return r.forThread(itemKind(shortString(r.body.Get("type"))), thread)
	case "thread_settings_applied":
		return r.forThread(SettingsApplied, thread)
	case "task_started":
		return TurnStarted
	case "task_complete":
		return TurnCompleted
	case "turn_aborted":
		return TurnAborted
	case "error":
		return TurnError
	case "thread_rolled_back":
		return TurnsRolledBack
	case "token_count":
		return TokenCount
	}
	return cmp.Or(r.legacyEventKind(name), OtherEvent)
}

// itemKind is the kind of an item_completed event in a paginated file (SEEN 0.147 and later) by the type of its item.
func itemKind(name []byte) Kind {
	switch string(name) {
	case "EnteredReviewMode":
		return ReviewEntered
	case "ExitedReviewMode":
		return ReviewExited
	case "ContextCompaction":
		return CompactionShown
	case "UserMessage":
		return UserText
	case "AgentMessage", "Plan":
		return AgentText
	}
	return OtherEvent
}

// responseItemKind is the kind of an item of the conversation with the model (response_item).
func (r *Record) responseItemKind() Kind {
	r.item = true
	switch name := r.typeName(); {
	case string(name) == "reasoning":
		return Reasoning
	case string(name) == "function_call", string(name) == "custom_tool_call":
		return ToolCall
	case string(name) == "local_shell_call", string(name) == "web_search_call":
		return ServerToolCall
	case bytes.HasSuffix(name, []byte("_output")):
		return ToolResult
	case string(name) == "message" && string(shortString(r.Get("role"))) == "assistant":
		return AgentItem
	}
	return OtherItem
}

// forThread is the kind of a record that may belong to another thread, and [Unknown] if it does. The parent of a review gets a copy of
// the reviewer's records, which name the reviewer's thread (SEEN 0.169).
func (r *Record) forThread(kind Kind, thread string) Kind {
	if of := shortString(r.Get("thread_id")); len(of) > 0 && string(of) != thread {
		return Unknown
	}
	return kind
}

// FromModel reports whether a record is an item that the model wrote in the conversation with it.
func (k Kind) FromModel() bool {
	return k == AgentItem || k == Reasoning || k == ToolCall || k == ServerToolCall
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
func (k Kind) part() conversationPart {
	switch k {
	case UserText, InjectedText, ToolResult:
		return partInput
	case AgentText, AgentItem, ContextCompacted, CompactionShown, ReviewExited:
		return partOutput
	case ToolCall, ServerToolCall, Reasoning:
		return partCall
	}
	return partNone
}
