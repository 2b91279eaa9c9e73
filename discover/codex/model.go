package codex

import "agentctl/discover/native/fsread"

// turnModel finds the model that a message is from. A turn's model is recorded at its beginning and so comes after its messages, when
// reading backwards.
type turnModel struct {
	newestModel  string // of the newest turn
	inNewestTurn bool   // the records still belong to the newest turn
	known        bool   // name is set
	name         string // of the turn that is read now
}

// modelSearchLimit is the number of bytes before a message that are searched for the beginning of its turn. In a longer turn the model
// stays unknown, unless it is the newest turn.
const modelSearchLimit = 256 << 10

// passTurnStart notes that older records belong to an older turn.
func (m *turnModel) passTurnStart() { m.inNewestTurn, m.known = false, false }

// modelAt is the model of the turn that the record at this offset belongs to, "" if it is unknown.
func (m *turnModel) modelAt(f *fsread.File, at int64) string {
	if m.known {
		return m.name
	}
	m.known, m.name = true, ""
	if m.inNewestTurn {
		m.name = m.newestModel
	}
	_, _ = f.Head(at).Backward(modelSearchLimit, func(l fsread.Line) bool {
		r, ok := decodeRecord(l.Bytes, "")
		if !ok || r.Kind != kindTurnContext || !r.Complete(l.Bytes) {
			return true
		}
		m.name = r.Get("model").Text(0)
		return false
	})
	return m.name
}
