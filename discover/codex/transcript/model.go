package transcript

import "agentctl/discover/native/fsread"

// turnModel tells which model a message is from. A turn's model stands at its beginning, before all that it says, and so
// comes last when reading backwards.
type turnModel struct {
	newestModel  string // that of the newest turn, by the session's record
	inNewestTurn bool   // still in the newest turn
	known        bool
	name         string // of the turn that is read now
}

// modelSearchLimit is how far before a message its turn's beginning is searched for. In longer turns the model is not known,
// unless it is that of the newest one.
const modelSearchLimit = 256 << 10

// passTurnStart notes that the beginning of a turn was passed: what follows is an older turn's.
func (m *turnModel) passTurnStart() { m.inNewestTurn, m.known = false, false }

// modelAt is the model of the turn that the record at this place of the file belongs to, "" where that is not known.
func (m *turnModel) modelAt(f *fsread.File, at int64) string {
	if m.known {
		return m.name
	}
	m.known, m.name = true, ""
	if m.inNewestTurn {
		m.name = m.newestModel
	}
	_, _ = f.Head(at).Backward(modelSearchLimit, func(l fsread.Line) bool {
		r, ok := Decode(l.Bytes, "")
		if !ok || r.Kind != TurnContext || !r.Complete(l.Bytes) {
			return true
		}
		m.name = r.Get("model").Text(0)
		return false
	})
	return m.name
}
