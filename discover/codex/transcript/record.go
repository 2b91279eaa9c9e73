// Package transcript reads the records of Codex's rollouts: what the first record says of a thread, how its newest turn stands, what
// it has used, and its messages. It opens no file: it is given lines, or a file that is open.
package transcript

import (
	"bytes"
	"cmp"
	"strings"
	"time"

	"agentctl/discover/native/jsonl"
)

// Record is one line of a rollout: {"timestamp":…,"ordinal":…,"type":…,"payload":{…}}. There are two dialects: legacy files have events
// such as user_message, paginated files have item_completed with an item. The kinds are the same for both.
type Record struct {
	Kind      Kind
	timestamp jsonl.Value
	payload   jsonl.Object
	// body is what the record is about: the payload or its item.
	body jsonl.Object
	// item: body is an item, which may have its own ID.
	item bool
}

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
	TurnFailed                   // a turn failed
	ReviewEntered                // a review began
	ReviewExited                 // a review ended
	ContextCompacted             // the model's context was replaced
	CompactionShown              // the person was told that it was
	TurnsRolledBack              // the person took back the newest turns
	TokenCount                   // the thread's token count so far
	TokenUsageRecord             // the tokens of one answer (0.160 and later)
	UserText                     // the person's words
	InjectedText                 // the agent's words under the person's name (0.42)
	AgentText                    // the model's words
	Reasoning                    // the model's reasoning
	AgentItem                    // the model's words once more, as an item of the conversation with the model
	OtherItem                    // another item of it: instructions, a command that the person typed
	ToolCall                     // a tool call that has a result
	ServerToolCall               // a tool call that may have none: of the model's server, or of the oldest versions
	ToolResult                   // the result of a tool call
	OtherEvent                   // any other event; it may tell how a tool call ended
)

// kindByName is the kind of an event (event_msg), of a completed item, or of an item of the conversation with the model
// (response_item) by its type.
func kindByName(name []byte) Kind {
	switch string(name) {
	case "task_started":
		return TurnStarted
	case "task_complete":
		return TurnCompleted
	case "turn_aborted":
		return TurnAborted
	case "error":
		return TurnFailed
	case "entered_review_mode", "EnteredReviewMode":
		return ReviewEntered
	case "exited_review_mode", "ExitedReviewMode":
		return ReviewExited
	case "context_compacted", "ContextCompaction":
		return CompactionShown
	case "thread_rolled_back":
		return TurnsRolledBack
	case "token_count":
		return TokenCount
	case "thread_settings_applied":
		return SettingsApplied
	case "user_message", "UserMessage":
		return UserText
	case "agent_message", "AgentMessage", "Plan":
		return AgentText
	case "agent_reasoning", "reasoning":
		return Reasoning
	case "function_call", "custom_tool_call":
		return ToolCall
	case "local_shell_call", "web_search_call":
		return ServerToolCall
	}
	return Unknown
}

// Decode reads a line of this thread's rollout as far as needed to know its kind. That costs the same for a line of any length, and
// believes what the line claims to be: [Record.Complete] reports whether it is.
func Decode(line []byte, thread string) (r Record, ok bool) {
	var envelope []byte
	for key, value := range jsonl.Object(line).Members() {
		switch string(key) {
		case "timestamp":
			r.timestamp = value
		case "type":
			envelope = shortString(value)
		case "payload":
			r.payload = jsonl.Object(value)
		}
		if r.payload != nil && envelope != nil {
			break
		}
	}
	if r.payload == nil || envelope == nil {
		return r, false
	}
	r.body = r.payload
	switch string(envelope) {
	case "session_meta":
		r.Kind = SessionMeta
	case "turn_context":
		r.Kind = TurnContext
	case "compacted":
		r.Kind = ContextCompacted
	case "token_usage_record":
		r.Kind = r.forThread(TokenUsageRecord, thread)
	case "event_msg":
		r.Kind = r.eventKind(thread)
	case "response_item":
		r.Kind = r.responseItemKind()
	}
	return r, true
}

func (r *Record) eventKind(thread string) Kind {
	name := r.typeName()
	if string(name) == "item_completed" {
		r.body, r.item = r.Get("item").Object(), true
		return r.forThread(cmp.Or(kindByName(shortString(r.body.Get("type"))), OtherEvent), thread)
	}
	is := kindByName(name)
	switch {
	case is == SettingsApplied:
		return r.forThread(is, thread)
	case is == UserText && r.isInjected():
		return InjectedText
	case is == Unknown && len(name) > 0:
		return OtherEvent
	}
	return is
}

func (r *Record) isInjected() bool {
	kind := string(shortString(r.Get("kind")))
	return kind != "" && kind != "plain"
}

func (r *Record) responseItemKind() Kind {
	r.item = true
	name := r.typeName()
	switch is := kindByName(name); {
	case is == ToolCall, is == ServerToolCall, is == Reasoning: // an agent_message is another agent's here, not an event
		return is
	case bytes.HasSuffix(name, []byte("_output")):
		return ToolResult
	case string(name) == "message" && string(shortString(r.Get("role"))) == "assistant":
		return AgentItem
	}
	return OtherItem
}

// forThread is the kind of a record that may belong to another thread, and [Unknown] if it does. The parent of a review gets a copy of
// the reviewer's records, which name the reviewer's thread (SEEN 0.169).
func (r *Record) forThread(is Kind, thread string) Kind {
	if of := shortString(r.Get("thread_id")); len(of) > 0 && string(of) != thread {
		return Unknown
	}
	return is
}

// typeName is the payload's type. Codex writes it first.
func (r *Record) typeName() []byte { return shortString(r.Get("type")) }

// shortString is the content of a short string without escapes.
func shortString(v jsonl.Value) []byte {
	const longest = 64
	v = v[:min(len(v), longest)]
	if len(v) == 0 || v[0] != '"' {
		return nil
	}
	n := bytes.IndexByte(v[1:], '"')
	if n < 0 {
		return nil
	}
	return v[1 : 1+n]
}

// Complete reports whether the line is one complete record – not cut off, torn or run into another – and limits the payload to it.
func (r *Record) Complete(line []byte) bool {
	n := r.payload.Len(func([]byte, jsonl.Value) int { return 0 })
	rest := r.payload[n:]
	r.payload = r.payload[:n]
	last := string(bytes.TrimSpace(rest)) == "}" // the usual case: the payload is the last member
	return n > 0 && (last || jsonl.Object(line).Complete())
}

// Get returns a member of the payload, nil if there is none.
func (r *Record) Get(name string) jsonl.Value { return r.payload.Get(name) }

// Time is when the record was written, in UTC. It is zero if the record does not say.
func (r *Record) Time() time.Time { return r.timestamp.Time() }

// Text is the text of a message or an item, or the description of what a review is about.
func (r *Record) Text() string {
	if r.Kind == ReviewEntered {
		return r.body.Get("user_facing_hint").Text(0)
	}
	if content := r.body.Get("content"); content != nil {
		return joinedText(content)
	}
	return cmp.Or(r.body.Get("message").Text(0), r.body.Get("text").Text(0))
}

// joinedText is the text of all parts of a message. Images have none.
func joinedText(content jsonl.Value) string {
	var b strings.Builder
	for part := range content.Elements() {
		b.WriteString(part.Object().Get("text").Text(0))
	}
	return b.String()
}

// FromModel reports whether a record is an item that the model wrote in the conversation with it.
func (k Kind) FromModel() bool {
	return k == AgentItem || k == Reasoning || k == ToolCall || k == ServerToolCall
}

// conversationPart is the part of a record in the conversation.
type conversationPart uint8

const (
	partNone   conversationPart = iota
	partInput                   // the person's words or a tool's output: an answer of the model is due
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
