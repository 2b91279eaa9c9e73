package claudecode

import (
	"bytes"
	"cmp"
	"time"

	"agentctl/discover"
	"agentctl/discover/native"
	"agentctl/discover/native/fsread"
	"agentctl/discover/native/jsonl"
)

// How far the scans look for what is not there, in bytes.
const (
	// promptReach: from the start, for the first prompt; a first message behind it is still found.
	promptReach = 256 << 10
	// turnReach: from the end, for the newest turn.
	turnReach = 8 << 20
	// modelReach: from the end, for the model where the turn is known.
	modelReach = 256 << 10
	// beganReach: from the end, for when a turn in progress began.
	beganReach = 64 << 10
	// usualTurn: from the end, where most transcripts have told how the newest turn stands.
	usualTurn = 8 << 10
	// usualPrompt: from the start, where most transcripts have told the first prompt.
	usualPrompt = 4 << 10
)

// Head reads a transcript from its beginning.
type Head struct {
	Strings *jsonl.Interner
	Created time.Time
	// First is the first record with a directory; message: there is a user or assistant record, and sidechain:
	// the first of them is a sub-agent's; continued: it follows one that stands elsewhere.
	First                            Envelope
	HasMessage, Sidechain, Continued bool
	// lines is how many there are; known: one of them is a record, damaged: one is none.
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
	s.Strings = native.InternerOf(f.Buffers())
	f.Expect(usualPrompt)
	_, err := f.Forward(0, turnReach, func(l fsread.Line) bool {
		s.add(l.Bytes)
		known := s.HasMessage && s.First.Cwd != ""
		return !known || s.typed == "" && l.Offset < promptReach
	})
	return err
}

// Readable reports whether what a file without a message holds can be told: other records, nothing, or a first one
// that its writer has not finished.
func (s *Head) Readable(f *fsread.File) bool {
	if s.lines > 0 {
		return s.known && !s.damaged
	}
	var begin [1]byte
	n, _ := f.ReadAt(begin[:], 0)
	return n == 0 || begin[0] == '{' && f.Size() < turnReach
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
	l, ok := ParseLine(raw)
	if !ok {
		s.damaged = s.damaged || jsonl.Damaged(raw)
		return
	}
	s.known = s.known || l.Type != ""
	if s.First.Cwd == "" {
		s.First = l.Envelope(s.Strings)
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
		s.Model = s.Strings.Intern(l.Model)
	}
	prompt, command := PromptOf(&l)
	if command {
		s.Command = cmp.Or(s.Command, prompt)
	} else {
		s.typed = prompt
	}
}

// date takes the time of the first record that has one, and of the notes that date the session.
func (s *Head) date(kind, raw []byte) {
	dates := s.fork.datesSession(kind)
	if !dates && (!s.Created.IsZero() || hasNoTimestamp(kind)) {
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

// Tail reads a transcript from its end.
type Tail struct {
	texts         *jsonl.Interner
	Sidechain     bool     // a sub-agent's transcript: its chain is the main one
	Last          Envelope // that of the newest conversation record
	Updated       time.Time
	Model         string
	Turn          Turn
	Metadata      Metadata
	exit          exitMark
	restated      restatement
	PrintPrompt   string // the first prompt where a print run began the transcript
	from          int64  // what stands behind was looked at, from the beginning of a line on
	NeedTurnStart bool   // when the turn began is asked for, however far back that stands
	Whole         bool   // the whole file was looked at
}

// Read looks as far back as need be, mostly no farther than the first read brings.
func (s *Tail) Read(f *fsread.File) (err error) {
	s.texts = native.InternerOf(f.Buffers())
	reach := int64(turnReach)
	if s.NeedTurnStart {
		reach = f.Size()
	}
	f.Expect(usualTurn)
	s.from = f.Size()
	s.Whole, err = f.Backward(reach, func(l fsread.Line) bool {
		if s.from = l.Offset; !l.Cut {
			s.add(l)
		}
		switch behind := f.Size() - l.Offset; {
		case s.needsTurnStart():
			return true
		case !s.Turn.complete():
			return behind < turnReach
		case s.Model == "":
			return behind < modelReach
		case s.inProgress():
			return behind < beganReach
		default:
			return l.Buffered
		}
	})
	return err
}

func (s *Tail) add(line fsread.Line) {
	raw := line.Bytes
	kind := metadataType(raw)
	s.restated.add(kind, raw)
	var stamp jsonl.Value
	if !hasNoTimestamp(kind) {
		stamp = timestampNearEnd(raw)
		if stamp == nil && !(s.Turn.complete() && isToolResult(raw)) { // where it has to be searched for, and nothing depends on it
			stamp = timestampFromStart(raw)
		}
		if at := stamp.Time(); at.After(s.Updated) { // file order is not quite the order of time
			s.Updated = at
		}
	}
	if kind != nil {
		s.Metadata.add(kind, raw, false)
		if string(kind) == "last-prompt" && s.Last.Cwd == "" {
			s.exit.add(line, s.PrintPrompt)
		}
		return
	}
	if s.Turn.complete() && !s.mayMatter(raw, stamp) || isAttachment(raw) {
		return
	}
	l, ok := ParseLine(raw)
	if !ok && jsonl.Damaged(raw) {
		s.Turn.addDamaged()
	}
	if !ok || l.Type == "" {
		return
	}
	if s.Last.Cwd == "" {
		s.Last = l.Envelope(s.texts)
	}
	if l.IsSidechain != s.Sidechain {
		return
	}
	if s.Model == "" && l.Type == "assistant" && !l.synthetic() {
		s.Model = s.texts.Intern(l.Model)
	}
	if !s.Turn.complete() || l.Type == "user" {
		s.Turn.add(&l)
	}
}

// mayMatter reports whether a record with this time may tell the model, or when the turn began, where that is not known.
func (s *Tail) mayMatter(raw []byte, stamp jsonl.Value) bool {
	return s.needsTurnStart() || s.Turn.state.Began.IsZero() && isPrompt(stamp) ||
		s.Model == "" && bytes.Contains(raw, []byte(`"model":"`))
}

// inProgress reports whether the turn has no end, and when it began is not known.
func (s *Tail) inProgress() bool {
	return s.Turn.state.State == discover.TurnOpen && s.Turn.state.Began.IsZero()
}

// needsTurnStart reports whether when the turn began is asked for and not known.
func (s *Tail) needsTurnStart() bool { return s.NeedTurnStart && s.Turn.state.Began.IsZero() }
