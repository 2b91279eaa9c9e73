package transcript

import "time"

// forkDetector recognises the answers that a fork copied from the session it was made of: their tokens are that session's.
// Three marks tell: /branch names the session in each copied record; 2.1.329 names in each answer the session that
// requested it; --fork-session of other versions marks nothing, but writes its first metadata before the copied records,
// which are older.
type forkDetector struct {
	created    time.Time // when the session itself was created, by its first metadata; zero if not known
	started    bool      // a record was read: later metadata does not count
	ownAnswers bool      // an answer of the session itself was read: no copies follow
	unmarked   bool      // there are copies by --fork-session
	origin     string    // the session that requested the newest copied answer (2.1.329); "" if not known
}

// datesSession reports whether metadata of this kind dates the creation of the session itself.
func (c *forkDetector) datesSession(kind []byte) bool {
	return !c.started && (string(kind) == "queue-operation" || string(kind) == "file-history-snapshot")
}

// addTime takes the time of such metadata.
func (c *forkDetector) addTime(made time.Time) {
	if made.After(c.created) {
		c.created = made
	}
}

// isCopy takes the next record, in the order of the file, and reports whether it is a copied answer.
func (c *forkDetector) isCopy(l *Record) bool {
	c.started = true
	switch {
	case l.Type != "assistant" || l.synthetic():
		return false
	case l.ForkedFrom != nil:
		return true
	case l.RequestSessionID != nil:
		c.ownAnswers = l.RequestSessionID.Text(0) == l.SessionID.Text(0)
	default: // only its time can show that it is a copy
		c.ownAnswers = c.ownAnswers || !l.Timestamp.Time().Before(c.created)
	}
	if c.unmarked = c.unmarked || !c.ownAnswers; !c.ownAnswers && l.RequestSessionID != nil {
		c.origin = l.RequestSessionID.Text(0)
	}
	return !c.ownAnswers
}

// Forked reports whether the first records are older than the metadata before them: --fork-session copied them.
func (s *Head) Forked() bool {
	return s.First.ForkedFrom == "" && s.fork.created.Sub(s.firstTime) > metadataDelay
}

// ForkCreated returns when a fork itself was created: Created may be the time of a copied record.
func (s *Head) ForkCreated() time.Time {
	if s.Created.Equal(s.firstTime) {
		return s.fork.created
	}
	return s.Created
}

// metadataDelay is how much older than the metadata before it a first prompt may be without being a copy.
const metadataDelay = time.Second
