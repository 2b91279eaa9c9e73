package claudecode

import (
	"cmp"
	"time"

	"agentctl/discover/storage"
)

// How far headReader and tailReader read for what may not be there, in bytes.
const (
	// promptReach, from the start, is for the first prompt. A first message is found behind it, too.
	promptReach = 256 << 10
	// turnReach, from the end, is for the newest turn and the model.
	turnReach = 8 << 20
	// metadataReach, from the end, is for metadata. Claude Code writes all of it anew whenever it has written 32 KB, and when it
	// leaves a transcript. It does not search farther back than 64 KB itself (READ 2.1.197, 2.1.330; SEEN in both).
	metadataReach = 64 << 10
)

// headReader is what the beginning of a transcript says.
type headReader struct {
	Created time.Time
	// First is of the first record with a directory. HasMessage: there is a user or an assistant record. Of the first such
	// record, Sidechain says that it is a sub-agent's, and Continued that it follows a record of another file.
	First                            envelope
	HasMessage, Sidechain, Continued bool
	// lines counts the lines read. known: one of them is a record. damaged: one of them is no JSON object.
	lines          int
	known, damaged bool
	typed, Command string
	Metadata       metadataValues
	fork           forkDetector
	firstTime      time.Time // of the first record
}

// Prompt returns the first prompt; a slash command only where nothing else was typed.
func (s *headReader) Prompt() string { return cmp.Or(s.typed, s.Command) }

// Read reads f from its beginning until the first prompt and a directory are known.
func (s *headReader) Read(f *storage.File) error {
	_, err := f.Parse(0, turnReach, parser(func(l storage.Line, r *rawRecord) bool {
		if s.lines++; r == nil {
			s.damaged = true
		} else {
			s.add(r)
		}
		known := s.HasMessage && s.First.Cwd != ""
		return !known || s.typed == "" && l.Offset < promptReach
	}))
	return err
}

// Readable reports whether a file without a message is understood nevertheless: it is empty, has only other records, or a
// first record that is still being written.
func (s *headReader) Readable(f *storage.File) bool {
	if s.lines > 0 {
		return s.known && !s.damaged
	}
	var begin [1]byte
	n, _ := f.ReadAt(begin[:], 0)
	return n == 0 || begin[0] == '{' && f.Size() < turnReach
}

func (s *headReader) add(l *rawRecord) {
	s.known = s.known || l.Type != ""
	s.date(l)
	if l.isMetadata() {
		s.Metadata.add(l, true)
		return
	}
	if s.First.Cwd == "" {
		s.First = l.envelope()
	}
	if !s.fork.started {
		s.fork.started, s.firstTime = true, l.Timestamp.Time()
	}
	if !l.IsMessage() {
		return
	}
	if !s.HasMessage {
		s.HasMessage, s.Sidechain = true, l.IsSidechain
		s.Continued = l.ParentUUID.Text(0) != ""
	}
	prompt, command := promptOf(l)
	if command {
		s.Command = cmp.Or(s.Command, prompt)
	} else {
		s.typed = prompt
	}
}

// date takes the time of the first record that has one, and of metadata that dates the session.
func (s *headReader) date(l *rawRecord) {
	dates := s.fork.datesSession(l.Type)
	if !dates && !s.Created.IsZero() {
		return
	}
	made := l.time()
	if s.Created.IsZero() && l.Type != "file-history-snapshot" {
		s.Created = made
	}
	if dates {
		s.fork.addTime(made)
	}
}

// sourceOf translates an entrypoint, by which a record says how its process was started, into a [discover.Record] source.
func sourceOf(entrypoint string) string {
	switch entrypoint {
	case "cli":
		return "tui"
	case printEntrypoint:
		return "print"
	case "sdk-ts", "sdk-py":
		return "sdk"
	}
	return entrypoint
}

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
func (c *forkDetector) datesSession(kind string) bool {
	return !c.started && (kind == "queue-operation" || kind == "file-history-snapshot")
}

// addTime takes the time of such metadata.
func (c *forkDetector) addTime(made time.Time) {
	if made.After(c.created) {
		c.created = made
	}
}

// isCopy takes the next record, in the order of the file, and reports whether it is a copied answer.
func (c *forkDetector) isCopy(l *rawRecord) bool {
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
func (s *headReader) Forked() bool {
	return s.First.ForkedFrom == "" && s.fork.created.Sub(s.firstTime) > metadataDelay
}

// ForkCreated returns when a fork itself was created: Created may be the time of a copied record.
func (s *headReader) ForkCreated() time.Time {
	if s.Created.Equal(s.firstTime) {
		return s.fork.created
	}
	return s.Created
}

// metadataDelay is how much older than the metadata before it a first prompt may be without being a copy.
const metadataDelay = time.Second
