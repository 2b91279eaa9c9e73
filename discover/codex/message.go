package codex

import (
	"cmp"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native"
)

// record makes the messages of one whole record. Texts are recorded as items of the conversation with the model, too, which
// hold the agent's own additions to it; those are not read.
func (t *transcript) record(r *record, at int64) {
	defer func() { t.newer = r.is.ofModel() }()
	switch r.is {
	case sessionMeta:
		if at == 0 {
			t.base = t.baseOf(r)
		}
	case turnContext:
		t.model.cross()
	case turnStarted:
		t.spent.forget()
		t.wrong = ""
	case turnCompleted:
		t.failed(r, at, r.get("error").Object().Get("message").Text(0))
	case turnFailed:
		t.failed(r, at, r.text())
	case turnAborted:
		t.spent.forget()
		t.give(t.message(r, at, discover.System, discover.KindInterruption, r.get("reason").Text(0)))
	case contextCompacted:
		t.spent.forget()
		t.give(t.message(r, at, discover.System, discover.KindCompaction, r.text()))
	case turnsRolledBack:
		t.back += int(r.get("num_turns").Int())
	case tokenCount:
		t.spent.count(r.get("info").Object(), t.newer)
	case tokenRecord:
		t.spent.record(r.get("usage").Object())
	case reviewEntered:
		t.copy = false
		t.asked(r, at)
	case reviewExited:
		t.copy = true
	case userText:
		if !t.copied(r) {
			t.asked(r, at)
		}
	case agentText:
		if !t.copied(r) {
			t.answer(t.message(r, at, discover.Assistant, discover.KindText, r.text()), at)
		}
	case toolResult:
		t.results.take(r)
		t.spent.result()
	case toolCall, serverCall:
		t.called(r, at)
	case otherItem:
		t.typed(r, at)
	case otherEvent:
		t.results.outcome(cmp.Or(r.body.Get("call_id").Text(0), r.body.Get("id").Text(0)), r.body)
	}
}

// message is one of a record's.
func (t *transcript) message(r *record, at int64, role discover.Role, kind discover.Kind, text string) discover.Message {
	id := ""
	if r.item {
		id = r.body.Get("id").Text(0)
	}
	return discover.Message{ID: t.id(id, at), Role: role, Kind: kind, Time: r.time(), Text: text}
}

// copied reports whether a record inside a review, which does not say whose it is, is the reviewer's.
func (t *transcript) copied(r *record) bool { return t.copy && r.get("thread_id") == nil }

// asked gives what the person said, which begins a turn.
func (t *transcript) asked(r *record, at int64) {
	t.spent.forget()
	t.give(t.message(r, at, discover.User, discover.KindText, r.text()))
	t.back = max(t.back-1, 0)
}

func (t *transcript) called(r *record, at int64) {
	c, _ := callOf(r)
	t.brief(&c, at)
	t.results.settle(&c)
	m := t.message(r, at, discover.Assistant, discover.KindTool, "")
	m.ID, m.Tool = t.id(c.ID, at), &c
	t.answer(m, at)
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
func (t *transcript) failed(r *record, at int64, text string) {
	t.spent.forget()
	if text == "" || text == t.wrong {
		return
	}
	t.wrong = text
	t.give(t.message(r, at, discover.System, discover.KindError, text))
}

// typed gives the commands of the person's own that an item of the conversation holds, and what they printed.
func (t *transcript) typed(r *record, at int64) {
	for part := range r.get("content").Elements() {
		command, output, ok := typed(part.Object().Get("text"))
		if !ok {
			continue
		}
		m := t.message(r, at, discover.System, discover.KindText, output)
		if id := m.ID; output != "" {
			m.ID += ":output"
			t.give(m)
			m.ID = id
		}
		m.Role, m.Text = discover.User, command
		t.give(m)
	}
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
