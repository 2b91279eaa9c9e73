package transcript

import (
	"cmp"
	"time"

	"agentctl/discover/native/fsread"
	"agentctl/discover/native/jsonl"
)

// How far Head and Tail read for what may not be there, in bytes.
const (
	// promptReach, from the start, is for the first prompt. A first message is found behind it, too.
	promptReach = 256 << 10
	// TurnReach, from the end, is for the newest turn.
	TurnReach = 8 << 20
	// modelReach, from the end, is for the model, once the turn is known.
	modelReach = 256 << 10
	// turnStartReach, from the end, is for the time when a turn in progress began.
	turnStartReach = 64 << 10
	// metadataReach, from the end, is for metadata. Claude Code writes all of it anew whenever it has written 32 KB, and when it
	// leaves a transcript. It does not search farther back than 64 KB itself (READ 2.1.197, 2.1.330; SEEN in both).
	metadataReach = 64 << 10
)

// Head is what the beginning of a transcript says.
type Head struct {
	Created time.Time
	// First is of the first record with a directory. HasMessage: there is a user or an assistant record. Of the first such
	// record, Sidechain says that it is a sub-agent's, and Continued that it follows a record of another file.
	First                            Envelope
	HasMessage, Sidechain, Continued bool
	// lines counts the lines read. known: one of them is a record. damaged: one of them is no JSON object.
	lines          int
	known, damaged bool
	typed, Command string
	Model          string
	Metadata       Metadata
	fork           forkDetector
	firstTime      time.Time // of the first record
}

// Prompt returns the first prompt; a slash command only where nothing else was typed.
func (s *Head) Prompt() string { return cmp.Or(s.typed, s.Command) }

// Read reads f from its beginning until the first prompt and a directory are known.
func (s *Head) Read(f *fsread.File) error {
	_, err := f.Forward(0, TurnReach, func(l fsread.Line) bool {
		s.add(l.Bytes)
		known := s.HasMessage && s.First.Cwd != ""
		return !known || s.typed == "" && l.Offset < promptReach
	})
	return err
}

// Readable reports whether a file without a message is understood nevertheless: it is empty, has only other records, or a
// first record that is still being written.
func (s *Head) Readable(f *fsread.File) bool {
	if s.lines > 0 {
		return s.known && !s.damaged
	}
	var begin [1]byte
	n, _ := f.ReadAt(begin[:], 0)
	return n == 0 || begin[0] == '{' && f.Size() < TurnReach
}

func (s *Head) add(raw []byte) {
	kind := metadataType(raw)
	s.lines, s.known = s.lines+1, s.known || kind != nil
	s.date(kind, raw)
	if kind != nil {
		s.Metadata.add(kind, raw, true)
		return
	}
	if s.First.Cwd != "" && isAttachment(raw) {
		return
	}
	l, ok := ParseRecord(raw)
	if !ok {
		s.damaged = s.damaged || jsonl.Damaged(raw)
		return
	}
	s.known = s.known || l.Type != ""
	if s.First.Cwd == "" {
		s.First = l.Envelope()
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
	if s.Model == "" && l.Type == "assistant" && !l.synthetic() {
		s.Model = l.Model.Text(0)
	}
	prompt, command := PromptOf(&l)
	if command {
		s.Command = cmp.Or(s.Command, prompt)
	} else {
		s.typed = prompt
	}
}

// date takes the time of the first record that has one, and of metadata that dates the session.
func (s *Head) date(kind, raw []byte) {
	dates := s.fork.datesSession(kind)
	if !dates && !s.Created.IsZero() {
		return
	}
	made := TimeOf(raw)
	if s.Created.IsZero() && string(kind) != "file-history-snapshot" {
		s.Created = made
	}
	if dates {
		s.fork.addTime(made)
	}
}

// SourceOf translates an entrypoint, by which a record says how its process was started, into a [discover.Record] source.
func SourceOf(entrypoint string) string {
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
