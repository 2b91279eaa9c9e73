package pi

import (
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// How many bytes from the end are searched: for the newest turn and its prompt, and for the newest name, of which there may be none.
const (
	turnReach = 16 << 20
	nameReach = 64 << 10
)

// tail is the end of a session's file. Lines come newest first.
type tail struct {
	file *storage.File
	// headEnd is the offset of the last line that was read from the beginning, damage the damage there.
	headEnd int64
	damage  storage.Damage

	turn     turnReader
	Updated  time.Time
	Name     string
	named    bool
	answered modelChange // by the newest answer
	selected modelChange // newer than all that was read
	Thinking string
}

// readTail reads backwards until the newest turn and its model are known.
func (t *tail) read(f *storage.File) error {
	t.file = f
	whole, err := f.RecordsBackward(turnReach, t.add)
	if whole && !t.turn.decided {
		t.turn.State = discover.TurnNone
	}
	return err
}

// add adds the next older line and reports whether more are needed.
func (t *tail) add(l storage.Line) bool {
	e, ok := parseEntry(l.Bytes)
	switch {
	case l.Cut || l.Rest || !ok:
		t.turn.addDamaged()
		if !l.Cut && l.Offset > t.headEnd {
			t.damage.Add(l)
		}
	default:
		t.addEntry(&e)
	}
	return !(t.turn.complete() && t.answered.Model != "" && (t.named || t.file.Size()-l.Offset > nameReach))
}

func (t *tail) addEntry(e *entry) {
	if t.Updated.IsZero() {
		t.Updated = e.Timestamp.Time()
	}
	switch {
	case e.Type == typeInfo && !t.named:
		t.named, t.Name = true, e.name()
	case e.Type == typeModel && t.selected.Model == "":
		t.selected = e.modelChange()
	case e.Type == typeThinking && t.Thinking == "":
		t.Thinking = e.Get("thinkingLevel").Text(0)
	case e.Role == roleAssistant && t.answered.Model == "":
		t.answered = modelChange{e.message.Get("model").Text(0), e.message.Get("provider").Text(0)}
	}
	t.turn.add(e)
}
