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

// eventKinds are the kinds of events (event_msg) by their names, itemKinds those of items that are completed, and
// responseKinds those of items of the conversation with the model (response_item).
var (
	eventKinds = map[string]kind{
		"task_started": turnStarted, "task_complete": turnCompleted, "turn_aborted": turnAborted, "error": turnFailed,
		"entered_review_mode": reviewEntered, "exited_review_mode": reviewExited, "thread_rolled_back": turnsRolledBack,
		"context_compacted": compactionShown, "token_count": tokenCount, "thread_settings_applied": settingsApplied,
		"user_message": userText, "agent_message": agentText, "agent_reasoning": reasoning,
	}
	itemKinds = map[string]kind{
		"UserMessage": userText, "AgentMessage": agentText, "Plan": agentText, "ContextCompaction": compactionShown,
		"EnteredReviewMode": reviewEntered, "ExitedReviewMode": reviewExited,
	}
	responseKinds = map[string]kind{
		"reasoning": reasoning, "function_call": toolCall, "custom_tool_call": toolCall,
		"local_shell_call": serverCall, "web_search_call": serverCall,
	}
)

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
		return r.ofThread(cmp.Or(itemKinds[string(word(r.body.Get("type")))], otherEvent), thread)
	}
	switch is := eventKinds[string(name)]; {
	case is == settingsApplied:
		return r.ofThread(is, thread)
	case is == userText:
		if kind := word(r.get("kind")); len(kind) > 0 && string(kind) != "plain" {
			return injectedText
		}
		return is
	case is == unknown && len(name) > 0:
		return otherEvent
	default:
		return is
	}
}

func (r *record) response() kind {
	r.item = true
	name := string(r.name())
	switch is := responseKinds[name]; {
	case is != unknown:
		return is
	case strings.HasSuffix(name, "_output"):
		return toolResult
	case name == "message" && string(word(r.get("role"))) == "assistant":
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
	raw := native.Value(r.payload).Raw()
	last := string(bytes.TrimSpace(r.payload[len(raw):])) == "}" // as mostly: the line needs no second look
	r.payload = raw
	return r.payload.Complete() && (last || native.Object(line).Complete())
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
