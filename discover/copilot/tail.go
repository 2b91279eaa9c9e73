package copilot

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// How far the tail is read for what may not be there, in bytes from the end.
const (
	// turnReach is for the beginning of the newest turn.
	turnReach = 8 << 20
	// modelReach is for the model, contextReach for the working directory. Most directories are those that the agent notes beside the
	// records; a resume in another one is not noted (SEEN 1.0.102).
	modelReach   = 64 << 10
	contextReach = 1 << 20
)

// tailReader is what the end of a session says.
type tailReader struct {
	// NeedContext: the working directory is worth reading back for as far as the turn is. NeedTurnStart: the beginning of the turn is,
	// however far.
	NeedContext, NeedTurnStart bool

	Updated time.Time
	Model   string
	Context sessionContext

	events []turnEvent     // the newest first
	chains map[string]bool // the IDs of records before those that were read: one for each writer
	begun  bool            // the prompt of the newest turn was read
	alone  bool            // and a record of the turn before it, by the same writer
	whole  bool
	damage storage.Damage
}

// Read reads backwards as far as necessary.
func (t *tailReader) Read(f *storage.File) (err error) {
	reach, contextEnd := int64(turnReach), int64(contextReach)
	if t.NeedTurnStart {
		reach = f.Size()
	}
	if t.NeedContext {
		contextEnd = turnReach
	}
	t.chains = map[string]bool{}
	t.whole, err = f.RecordsBackward(reach, func(l storage.Line) bool {
		behind := f.Size() - l.Offset
		if !t.turnKnown() || behind < modelReach || bytes.Contains(l.Bytes, []byte(`"session.`)) {
			t.addLine(l)
		}
		// Of two writers, the turn of either one may be open: read back to where the second one began.
		return !t.turnKnown() || t.Model == "" && behind < modelReach || !t.Context.Found && behind < contextEnd
	})
	return err
}

// turnKnown reports whether older records cannot change the turn.
func (t *tailReader) turnKnown() bool { return t.alone && len(t.chains) <= 1 }

func (t *tailReader) addLine(l storage.Line) {
	e, ok := parseEvent(l.Bytes)
	switch {
	case l.Cut: // its type may be anything
	case l.Rest || !ok:
		t.damage.Add(l)
		if !t.turnKnown() {
			t.events = append(t.events, turnEvent{Type: damagedEvent})
		}
	default:
		t.add(&e)
	}
}

func (t *tailReader) add(e *event) {
	if at := e.time(); at.After(t.Updated) {
		t.Updated = at
	}
	if e.Type == "" {
		return
	}
	if !t.turnKnown() {
		t.addTurn(newTurnEvent(e))
	}
	if e.ofSubagent() {
		return
	}
	if t.Model == "" {
		t.Model = modelOf(e)
	}
	if !t.Context.Found {
		switch e.Type {
		case sessionStart, sessionResume:
			t.Context = contextOf(e.Data.Get("context").Object())
		case contextChanged:
			t.Context = contextOf(e.Data)
		}
	}
}

func (t *tailReader) addTurn(e turnEvent) {
	if strings.HasPrefix(e.Type, "model.") { // a chain of its own
		return
	}
	t.events = append(t.events, e)
	known := t.chains[e.ID]
	if delete(t.chains, e.ID); e.Parent != "" {
		t.chains[e.Parent] = true
	}
	switch {
	case e.Type == sessionResume && e.InUse: // the turn of the other process is before it
		t.begun = false
	case t.begun:
		t.alone = t.alone || known && !strings.HasPrefix(e.Type, "session.")
	default:
		t.begun = e.Type == userMessage && !e.Outside && !e.Steering
	}
}

func modelOf(e *event) string {
	switch e.Type {
	case assistantText:
		return e.Data.Get("model").Text(textLimit)
	case modelChange:
		return e.Data.Get("newModel").Text(textLimit)
	case sessionStart, sessionResume:
		return e.Data.Get("selectedModel").Text(textLimit)
	}
	return ""
}

// Turn returns the state of the newest turn.
func (t *tailReader) Turn() discover.Turn {
	r := newTurnReader(t.whole)
	for i := range slices.Backward(t.events) {
		r.add(&t.events[i])
	}
	return r.newest().result()
}
