package claudecode

import (
	"time"

	"agentctl/discover"
)

// copies tells the answers that a fork copied from the session it was made of: what they used was that session's. Up to
// three things mark them: /branch names the session in each record; 2.1.329 names in an answer the session that asked
// for it; and --fork-session, which marks nothing else, notes its own beginning first and then the older records.
type copies struct {
	began   time.Time // of the session itself, by its first notes; zero where they do not say
	begun   bool      // a record was met: no more of those notes
	own     bool      // an answer of its own was met: no more copies
	unnamed bool      // there are copies that /branch did not make
	origin  string    // the session that asked for the newest copied answer, where the copies say so (2.1.329)
}

// dates reports whether a note of this kind tells when the session itself began.
func (c *copies) dates(kind []byte) bool {
	return !c.begun && (string(kind) == "queue-operation" || string(kind) == "file-history-snapshot")
}

// note takes when such a note was made.
func (c *copies) note(made time.Time) {
	if made.After(c.began) {
		c.began = made
	}
}

// has takes a record, in the order of the file, and reports whether it is a copied answer.
func (c *copies) has(l *line) bool {
	c.begun = true
	switch {
	case l.Type != "assistant" || l.synthetic():
		return false
	case l.ForkedFrom != nil:
		return true
	case l.RequestSessionID != nil:
		c.own = l.RequestSessionID.Text(0) == l.SessionID.Text(0)
	default: // nothing marks it as a copy, but perhaps its time
		c.own = c.own || !l.Timestamp.Time().Before(c.began)
	}
	if c.unnamed = c.unnamed || !c.own; !c.own && l.RequestSessionID != nil {
		c.origin = l.RequestSessionID.Text(0)
	}
	return !c.own
}

// forked reports whether what follows the first notes of a transcript is older than they are.
func (s *headScan) forked() bool {
	return s.first.ForkedFrom == "" && s.copies.began.Sub(s.recorded) > noteDelay
}

// noteDelay is more than the time by which a prompt is older than the note that is written before it.
const noteDelay = time.Second

// withOrigin takes off the cost of a fork that is not its own alone: the agent states it with that of the session it was
// made of (2.1.329; not of a /branch).
func withOrigin(r *discover.Record) {
	if r.Cost != nil {
		r.SetMeta("costWithOrigin", *r.Cost)
		r.Cost = nil
	}
}
