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
	Metadata       metadata
	fork           forkDetector
	firstTime      time.Time // of the first record
}

// Prompt returns the first prompt; a slash command only where nothing else was typed.
func (h *headReader) Prompt() string { return cmp.Or(h.typed, h.Command) }

// Read reads f from its beginning until the first prompt and a directory are known.
func (h *headReader) Read(f *storage.File) error {
	_, err := f.Parse(turnReach, parser(func(l storage.Line, r *rawLine) bool {
		if h.lines++; r == nil {
			h.damaged = true
		} else {
			h.add(r)
		}
		known := h.HasMessage && h.First.Cwd != ""
		return !known || h.typed == "" && l.Offset < promptReach
	}))
	return err
}

// Readable reports whether a file without a message is understood nevertheless: it is empty, has only other records, or a
// first record that is still being written.
func (h *headReader) Readable(f *storage.File) bool {
	if h.lines > 0 {
		return h.known && !h.damaged
	}
	var begin [1]byte
	n, _ := f.ReadAt(begin[:], 0)
	return n == 0 || begin[0] == '{' && f.Size() < turnReach
}

func (h *headReader) add(line *rawLine) {
	h.known = h.known || line.Type != ""
	h.fork.addMetadata(line)
	if h.Created.IsZero() && line.Type != "file-history-snapshot" {
		h.Created = line.time()
	}
	if line.isMetadata() {
		h.Metadata.add(line, true)
		return
	}
	if h.First.Cwd == "" {
		h.First = line.envelope()
	}
	if !h.fork.started {
		h.fork.started, h.firstTime = true, line.Timestamp.Time()
	}
	if !line.IsMessage() {
		return
	}
	if !h.HasMessage {
		h.HasMessage, h.Sidechain = true, line.IsSidechain
		h.Continued = line.ParentUUID.Text(0) != ""
	}
	prompt, command := promptOf(line)
	if command {
		h.Command = cmp.Or(h.Command, prompt)
	} else {
		h.typed = prompt
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

// addMetadata takes the time of metadata that dates the creation of the session itself.
func (f *forkDetector) addMetadata(line *rawLine) {
	if f.started || line.Type != "queue-operation" && line.Type != "file-history-snapshot" {
		return
	}
	if made := line.time(); made.After(f.created) {
		f.created = made
	}
}

// isCopy takes the next record, in the order of the file, and reports whether it is a copied answer.
func (f *forkDetector) isCopy(line *rawLine) bool {
	f.started = true
	switch {
	case line.Type != "assistant" || line.synthetic():
		return false
	case line.ForkedFrom != nil:
		return true
	case line.RequestSessionID != nil:
		f.ownAnswers = line.RequestSessionID.Text(0) == line.SessionID.Text(0)
	default: // only its time can show that it is a copy
		f.ownAnswers = f.ownAnswers || !line.Timestamp.Time().Before(f.created)
	}
	if f.unmarked = f.unmarked || !f.ownAnswers; !f.ownAnswers && line.RequestSessionID != nil {
		f.origin = line.RequestSessionID.Text(0)
	}
	return !f.ownAnswers
}

// ForkCreated returns when a fork itself was created: Created may be the time of a copied record. ok reports whether it is one: the first
// records are older than the metadata before them, so that --fork-session has copied them.
func (h *headReader) ForkCreated() (created time.Time, ok bool) {
	ok = h.First.ForkedFrom == "" && h.fork.created.Sub(h.firstTime) > metadataDelay
	if h.Created.Equal(h.firstTime) {
		return h.fork.created, ok
	}
	return h.Created, ok
}

// metadataDelay is how much older than the metadata before it a first prompt may be without being a copy.
const metadataDelay = time.Second
