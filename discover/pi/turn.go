package pi

import (
	"slices"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// turnReader finds the state of the newest turn. Entries come newest first: the newest message of the conversation decides.
type turnReader struct {
	discover.Turn
	decided bool
	// began: the prompt of the turn was read. Until then, next is the entry that precedes those of the turn that were read.
	began bool
	next  string
	// aside is what the newest message says that stands among those of the turn and is none of them: if the turn's prompt is read later, two
	// processes write the session, each a branch.
	aside *discover.Turn
	// answered are the calls whose results were read; callsKnown: their answer was, too.
	answered   []string
	callsKnown bool
	// retried are the failures after which Pi has asked the model again.
	retried map[string]bool
}

// maxRetried bounds how many failures are noted: Pi tries three times.
const maxRetried = 1000

// complete reports whether older entries cannot change anything.
func (t *turnReader) complete() bool { return t.decided && t.began }

func (t *turnReader) add(e *entry) {
	if e.Type == typeEdit && string(e.Get("replacement").Raw()) == "null" && len(t.retried) < maxRetried {
		if t.retried == nil {
			t.retried = map[string]bool{}
		}
		t.retried[e.Get("targetId").Text(idLimit)] = true
	}
	isTurn := e.Role == roleUser || e.Role == roleResult || e.Role == roleAssistant
	switch {
	case t.complete():
	case !t.decided:
		if isTurn {
			t.decided, t.Turn, t.next = true, t.stateAfter(e), e.Parent
			t.addOwn(e)
		}
	case e.ID == t.next || e.ID == "" || t.next == "":
		t.next = e.Parent
		if t.addOwn(e); t.began && t.aside != nil && t.aside.State == discover.TurnOpen {
			t.aside.Began = t.Began
			t.Turn = *t.aside
		}
	case isTurn:
		if t.aside == nil {
			other := t.stateAfter(e)
			t.aside = &other
		}
		if e.Role == roleUser && t.Began.IsZero() { // that of the turn, if the entry before one of the turn's is missing
			t.Began = e.Timestamp.Time()
		}
	}
}

// addOwn adds an entry of the turn: its prompt, an answer or a result. Calls of one answer may run at once.
func (t *turnReader) addOwn(e *entry) {
	switch {
	case e.Role == roleUser:
		t.began, t.Began = true, e.Timestamp.Time()
	case t.callsKnown || t.State != discover.TurnOpen:
	case e.Role == roleResult:
		t.answered = append(t.answered, e.message.Get("toolCallId").Text(idLimit))
	case e.Role == roleAssistant:
		t.callsKnown = true
		for block := range e.message.Get("content").Elements() {
			if o := block.Object(); o.Get("type").Word(blockText, blockCall) == blockCall {
				if c := newCall(o); !slices.Contains(t.answered, c.ID) {
					t.Detail, t.OpenCall = "tool: "+c.Name, discover.NewWaitingOn(c.Name, c.Brief, storage.Object(c.Input).Get("path").Text(0), nil)
				}
			}
		}
	}
}

// addDamaged adds a damaged line, which may have decided.
func (t *turnReader) addDamaged() {
	if !t.decided {
		t.decided, t.began = true, true
	}
}

// stateAfter returns the state of a turn whose newest message this is.
func (t *turnReader) stateAfter(e *entry) discover.Turn {
	switch e.Role {
	case roleUser:
		return discover.Turn{State: discover.TurnOpen, Unanswered: true, Prompt: e.prompt()}
	case roleResult:
		return discover.Turn{State: discover.TurnOpen}
	}
	switch e.message.Get("stopReason").Word("stop", "toolUse") {
	case "stop", "length":
		return discover.Turn{State: discover.TurnDone}
	case "aborted":
		return discover.Turn{State: discover.TurnInterrupted}
	case "error":
		if t.retried[e.ID] {
			return discover.Turn{State: discover.TurnOpen, Detail: "asks the model again"}
		}
		return discover.Turn{State: discover.TurnFailed, Error: e.message.Get("errorMessage").Text(discover.ErrorLimit)}
	case "toolUse", "pending", "deferred":
		return discover.Turn{State: discover.TurnOpen}
	}
	return discover.Turn{}
}

// liveTurn returns what a process shows of its turn while no session is known that it runs: there is none, if it waits at its terminal and asks
// no model. It is nil if the process shows nothing.
func (p *process) liveTurn() *discover.Turn {
	if p.hasTerminal && !p.hasSocket {
		return &discover.Turn{State: discover.TurnNone}
	}
	return nil
}
