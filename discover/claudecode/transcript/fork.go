package transcript

import "time"

// forkDetector tells the answers that a fork copied from the session it was made of: what they used was that session's. Up to
// three things mark them: /branch names the session in each record; 2.1.329 names in an answer the session that asked
// for it; and --fork-session, which marks nothing else, notes its own beginning first and then the older records.
type forkDetector struct {
	created    time.Time // of the session itself, by its first notes; zero where they do not say
	started    bool      // a record was met: no more of those notes
	ownAnswers bool      // an answer of its own was met: no more copies
	unmarked   bool      // there are copies that /branch did not make
	origin     string    // the session that asked for the newest copied answer, where the copies say so (2.1.329)
}

// datesSession reports whether a note of this kind tells when the session itself began.
func (c *forkDetector) datesSession(kind []byte) bool {
	return !c.started && (string(kind) == "queue-operation" || string(kind) == "file-history-snapshot")
}

// addTime takes when such a note was made.
func (c *forkDetector) addTime(made time.Time) {
	if made.After(c.created) {
		c.created = made
	}
}

// isCopy takes a record, in the order of the file, and reports whether it is a copied answer.
func (c *forkDetector) isCopy(l *Line) bool {
	c.started = true
	switch {
	case l.Type != "assistant" || l.synthetic():
		return false
	case l.ForkedFrom != nil:
		return true
	case l.RequestSessionID != nil:
		c.ownAnswers = l.RequestSessionID.Text(0) == l.SessionID.Text(0)
	default: // nothing marks it as a copy, but perhaps its time
		c.ownAnswers = c.ownAnswers || !l.Timestamp.Time().Before(c.created)
	}
	if c.unmarked = c.unmarked || !c.ownAnswers; !c.ownAnswers && l.RequestSessionID != nil {
		c.origin = l.RequestSessionID.Text(0)
	}
	return !c.ownAnswers
}

// Forked reports whether what follows the first notes of a transcript is older than they are.
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

// metadataDelay is more than the time by which a prompt is older than the note that is written before it.
const metadataDelay = time.Second
