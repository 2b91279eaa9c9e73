package codex

import "agentctl/discover/native"

// model tells which model a message is from. A turn's model stands at its beginning, before all that it says, and so
// comes last when reading backwards.
type model struct {
	last   string // that of the newest turn, by the session's record
	newest bool   // still in the newest turn
	known  bool
	name   string // of the turn that is read now
}

// lookBack is how far before a message its turn's beginning is searched for. In longer turns the model is not known,
// unless it is that of the newest one.
const lookBack = 256 << 10

// cross notes that the beginning of a turn was passed: what follows is an older turn's.
func (m *model) cross() { m.newest, m.known = false, false }

// at is the model of the turn that the record at this place of the file belongs to, "" where that is not known.
func (m *model) at(f *native.File, at int64) string {
	if m.known {
		return m.name
	}
	m.known, m.name = true, ""
	if m.newest {
		m.name = m.last
	}
	_, _ = f.Head(at).Backward(lookBack, func(l native.Line) bool {
		r, ok := decode(l.Bytes, "")
		if !ok || r.is != turnContext || !r.whole(l.Bytes) {
			return true
		}
		m.name = r.get("model").Text(0)
		return false
	})
	return m.name
}
