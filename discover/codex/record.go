package codex

import (
	"bytes"
	"cmp"
	"strings"
	"time"

	"agentctl/discover/native"
)

// record is one line of a rollout: {"timestamp":…,"ordinal":…,"type":…,"payload":{…}}. There are two dialects: events such
// as user_message and, in paginated files, item_completed with an item. Both are the same kinds of records here.
type record struct {
	is      kind
	at      native.Value
	payload native.Object
	// body holds what the record is about: the payload, or its item.
	body native.Object
	// item: the body is an item, which may have an id of its own.
	item bool
}

// kind is what a record is.
type kind uint8

const (
	unknown         kind = iota // or another thread's
	sessionMeta                 // the first record
	turnContext                 // what a turn runs with
	settingsApplied             // what the next turn would
	turnStarted
	turnCompleted
	turnAborted
	turnFailed
	reviewEntered
	reviewExited
	contextCompacted // the model's context was replaced; compactionShown: the person is told so
	compactionShown
	turnsRolledBack
	tokenCount
	tokenRecord
	userText     // the person's words
	injectedText // words of the agent's own under the person's name (0.42)
	agentText    // the model's words
	reasoning
	agentItem  // the model's words once more, as an item of the conversation with the model
	otherItem  // another item of it: instructions, a command that the person typed
	toolCall   // a call that has a result
	serverCall // one that need not have: of the model's server, or of the oldest versions
	toolResult
	otherEvent // it may tell how a call ended
)

// named is the kind of what has this name: of events (event_msg), of items that are completed, and of items of the
// conversation with the model (response_item).
func named(name []byte) kind {
	switch string(name) {
	case "task_started":
		return turnStarted
	case "task_complete":
		return turnCompleted
	case "turn_aborted":
		return turnAborted
	case "error":
		return turnFailed
	case "entered_review_mode", "EnteredReviewMode":
		return reviewEntered
	case "exited_review_mode", "ExitedReviewMode":
		return reviewExited
	case "context_compacted", "ContextCompaction":
		return compactionShown
	case "thread_rolled_back":
		return turnsRolledBack
	case "token_count":
		return tokenCount
	case "thread_settings_applied":
		return settingsApplied
	case "user_message", "UserMessage":
		return userText
	case "agent_message", "AgentMessage", "Plan":
		return agentText
	case "agent_reasoning", "reasoning":
		return reasoning
	case "function_call", "custom_tool_call":
		return toolCall
	case "local_shell_call", "web_search_call":
		return serverCall
	}
	return unknown
}

// decode reads a line of this thread's rollout as far as needed to tell what it is, which costs the same for a line of any
// length. What it returns is only what the line claims to be: whole tells whether it is.
func decode(line []byte, thread string) (r record, ok bool) {
	var envelope []byte
	for key, value := range native.Object(line).Members() {
		switch string(key) {
		case "timestamp":
			r.at = value
		case "type":
			envelope = word(value)
		case "payload":
			r.payload = native.Object(value)
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
		r.is = sessionMeta
	case "turn_context":
		r.is = turnContext
	case "compacted":
		r.is = contextCompacted
	case "token_usage_record":
		r.is = r.ofThread(tokenRecord, thread)
	case "event_msg":
		r.is = r.event(thread)
	case "response_item":
		r.is = r.response()
	}
	return r, true
}

func (r *record) event(thread string) kind {
	name := r.name()
	if string(name) == "item_completed" {
		r.body, r.item = r.get("item").Object(), true
		return r.ofThread(cmp.Or(named(word(r.body.Get("type"))), otherEvent), thread)
	}
	is := named(name)
	switch {
	case is == settingsApplied:
		return r.ofThread(is, thread)
	case is == userText && r.injected():
		return injectedText
	case is == unknown && len(name) > 0:
		return otherEvent
	}
	return is
}

func (r *record) injected() bool {
	kind := string(word(r.get("kind")))
	return kind != "" && kind != "plain"
}

func (r *record) response() kind {
	r.item = true
	name := r.name()
	switch is := named(name); {
	case is == toolCall, is == serverCall, is == reasoning: // an agent_message is no event here, but of another agent
		return is
	case bytes.HasSuffix(name, []byte("_output")):
		return toolResult
	case string(name) == "message" && string(word(r.get("role"))) == "assistant":
		return agentItem
	}
	return otherItem
}

// ofThread is the kind of a record that is this thread's. A review's parent is given a copy of what the reviewer sees, under
// the reviewer's own thread (SEEN 0.169).
func (r *record) ofThread(is kind, thread string) kind {
	if of := word(r.get("thread_id")); len(of) > 0 && string(of) != thread {
		return unknown
	}
	return is
}

// name is the payload's own type. Codex writes it first; should another writer not, it is looked for.
func (r *record) name() []byte { return word(r.get("type")) }

// word is a short string value as it stands, without its quotes.
func word(v native.Value) []byte {
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

// whole reports whether the line is one whole record – not cut, torn or run into another – and bounds its payload.
func (r *record) whole(line []byte) bool {
	n := r.payload.Len(func([]byte, native.Value) int { return 0 })
	rest := r.payload[n:]
	r.payload = r.payload[:n]
	last := string(bytes.TrimSpace(rest)) == "}" // as mostly: the line needs no second look
	return n > 0 && (last || native.Object(line).Complete())
}

// get returns a member of the payload, nil if it has none of that name.
func (r *record) get(name string) native.Value { return r.payload.Get(name) }

// time is when the record was written, UTC; zero if it does not say.
func (r *record) time() time.Time { return r.at.Time() }

// text is what was said: a message, the contents of an item, or what a review is to look at.
func (r *record) text() string {
	if r.is == reviewEntered {
		return r.body.Get("user_facing_hint").Text(0)
	}
	if content := r.body.Get("content"); content != nil {
		return joined(content)
	}
	return cmp.Or(r.body.Get("message").Text(0), r.body.Get("text").Text(0))
}

// joined is the text of a message, which the agent takes for one however many parts it has; pictures have none.
func joined(content native.Value) string {
	var b strings.Builder
	for part := range content.Elements() {
		b.WriteString(part.Object().Get("text").Text(0))
	}
	return b.String()
}

// ofModel reports whether a record is an item of the model's in the conversation with it.
func (k kind) ofModel() bool {
	return k == agentItem || k == reasoning || k == toolCall || k == serverCall
}

// step is what a record contributes to the conversation.
type step uint8

const (
	nothing step = iota
	input        // the person's words or a tool's output: the model's answer is due
	output       // the model's answer
	call         // the model's call of a tool
)

// step tells what a record contributes. The agent's own additions to the conversation are user messages too.
func (k kind) step() step {
	switch k {
	case userText, injectedText, toolResult:
		return input
	case agentText, agentItem, contextCompacted, compactionShown, reviewExited:
		return output
	case toolCall, serverCall, reasoning:
		return call
	}
	return nothing
}
