package codex

import (
	"strings"

	"agentctl/discover"
	"agentctl/discover/native"
)

// record makes the messages of one whole record.
func (t *transcript) record(e event, at int64) {
	defer func() { t.newer = ofModel(e) }()
	switch string(e.kind) {
	case "session_meta":
		if at == 0 {
			t.base = t.baseOf(e)
		}
	case "turn_context":
		t.model.cross()
	case "compacted":
		t.spent.forget()
		t.give(discover.Message{ID: t.id("", at), Role: discover.System, Kind: discover.KindCompaction, Time: e.time(), Text: e.get("message").Text(0)})
	case "token_usage_record":
		if !e.foreign(t.thread) {
			t.spent.record(e.get("usage").Object())
		}
	case "event_msg":
		t.event(e, at)
	case "response_item":
		t.item(e, at)
	}
}

// ofModel reports whether a record is an item of the model's in the conversation.
func ofModel(e event) bool {
	s := stepOf(&e)
	return string(e.kind) == "response_item" && (s == output || s == call)
}

// event takes what the agent shows to the person. Texts are recorded as items of the conversation, too, which hold the
// agent's own additions to it; those are not read.
func (t *transcript) event(e event, at int64) {
	switch string(e.name) {
	case "token_count":
		t.spent.count(e.get("info").Object(), t.newer)
	case "user_message":
		if kind := e.get("kind").Text(0); (kind == "" || kind == "plain") && !t.copy { // 0.42 knows more, which it writes itself
			t.asked(t.id("", at), e, e.get("message").Text(0))
		}
	case "agent_message":
		if !t.copy {
			t.said(t.id("", at), at, e, e.get("message").Text(0))
		}
	case "entered_review_mode":
		t.copy = false
		t.asked(t.id("", at), e, e.get("user_facing_hint").Text(0))
	case "exited_review_mode":
		t.copy = true
	case "item_completed":
		if !e.foreign(t.thread) {
			t.completed(e, at)
		}
	case "task_started":
		t.spent.forget()
		t.wrong = ""
	case "task_complete":
		t.failed(e, at, e.get("error").Object().Get("message").Text(0))
	case "error":
		t.failed(e, at, e.get("message").Text(0))
	case "turn_aborted":
		t.spent.forget()
		t.give(discover.Message{ID: t.id("", at), Role: discover.System, Kind: discover.KindInterruption, Time: e.time(), Text: e.get("reason").Text(0)})
	case "thread_rolled_back":
		t.back += int(e.get("num_turns").Int())
	default:
		t.results.outcome(e.get("call_id").Text(0), e.payload)
	}
}

// completed takes an item of the newer dialect.
func (t *transcript) completed(e event, at int64) {
	item, kind := e.item()
	id := item.Get("id").Text(0)
	switch kind {
	case "UserMessage":
		t.asked(t.id(id, at), e, joined(item.Get("content")))
	case "AgentMessage":
		t.said(t.id(id, at), at, e, joined(item.Get("content")))
	case "Plan":
		t.said(t.id(id, at), at, e, item.Get("text").Text(0))
	case "EnteredReviewMode":
		t.asked(t.id(id, at), e, item.Get("user_facing_hint").Text(0))
	default:
		t.results.outcome(id, item)
	}
}

// item takes an item of the conversation with the model: calls of tools, their results, and commands of the person's own.
func (t *transcript) item(e event, at int64) {
	if t.results.take(e) {
		t.spent.result()
		return
	}
	if c, ok := callOf(e); ok {
		t.brief(&c, at)
		t.called(c, e, at)
		return
	}
	if string(e.name) == "message" && e.get("role").Text(0) == "user" {
		for part := range e.get("content").Elements() {
			if command, output, ok := typed(part.Object().Get("text")); ok {
				id := t.id(e.get("id").Text(0), at)
				if output != "" {
					t.give(discover.Message{ID: id + ":output", Role: discover.System, Kind: discover.KindText, Time: e.time(), Text: output})
				}
				t.give(discover.Message{ID: id, Role: discover.User, Kind: discover.KindText, Time: e.time(), Text: command})
			}
		}
	}
}

// asked gives what the person said, which begins a turn.
func (t *transcript) asked(id string, e event, text string) {
	t.spent.forget()
	t.give(discover.Message{ID: id, Role: discover.User, Kind: discover.KindText, Time: e.time(), Text: text})
	t.back = max(t.back-1, 0)
}

// said gives what the model said.
func (t *transcript) said(id string, at int64, e event, text string) {
	t.answer(discover.Message{ID: id, Role: discover.Assistant, Kind: discover.KindText, Time: e.time(), Text: text}, at)
}

func (t *transcript) called(c discover.ToolCall, e event, at int64) {
	t.results.settle(&c)
	id := t.id(c.ID, at)
	t.answer(discover.Message{ID: id, Role: discover.Assistant, Kind: discover.KindTool, Time: e.time(), Tool: &c}, at)
}

// answer gives a part of the model's answer. The record of its tokens follows the parts, so that the last one has them.
func (t *transcript) answer(m discover.Message, at int64) {
	if t.back > 0 {
		return
	}
	m.Model, m.Tokens = t.model.at(t.file, at), t.spent.pay()
	t.give(m)
}

// failed gives the error that a turn ended with; some versions record it twice.
func (t *transcript) failed(e event, at int64, text string) {
	t.spent.forget()
	if text == "" || text == t.wrong {
		return
	}
	t.wrong = text
	t.give(discover.Message{ID: t.id("", at), Role: discover.System, Kind: discover.KindError, Time: e.time(), Text: text})
}

// joined is the text of a message, which the agent takes for one however many parts it has; pictures have none.
func joined(content native.Value) string {
	var b strings.Builder
	for part := range content.Elements() {
		b.WriteString(part.Object().Get("text").Text(0))
	}
	return b.String()
}

// typed takes apart the item that a command of the person's own ("!git status") leaves in the conversation.
func typed(v native.Value) (command, output string, ok bool) {
	const begin, between, before, end = "<user_shell_command>\n<command>\n", "\n</command>\n<result>\n", "\nOutput:\n", "\n</result>\n</user_shell_command>"
	if len(v) < len(begin) || !strings.HasPrefix(string(v[1:min(len(v), 64)]), "<user_shell_command>") {
		return "", "", false
	}
	text, ok := strings.CutPrefix(v.Text(0), begin)
	if !ok {
		return "", "", false
	}
	command, result, ok := strings.Cut(text, between)
	_, output, _ = strings.Cut(result, before)
	return "!" + command, strings.TrimSuffix(output, end), ok
}
