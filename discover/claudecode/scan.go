package claudecode

import (
	"bytes"
	"cmp"
	"time"

	"agentctl/discover"
	"agentctl/discover/native"
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

// headScan reads a transcript from its beginning.
type headScan struct {
	texts   *native.Interner
	created time.Time
	// first is the first record with a directory; message: there is a user or assistant record, and sidechain:
	// the first of them is a sub-agent's; continued: it follows one that stands elsewhere.
	first                         place
	message, sidechain, continued bool
	// lines is how many there are; known: one of them is a record, damaged: one is none.
	lines          int
	known, damaged bool
	typed, command string
	model          string
	notes          notes
	copies         copies
	recorded       time.Time // of the first record
}

func (s *headScan) prompt() string { return cmp.Or(s.typed, s.command) }

func (s *headScan) read(f *native.File) error {
	s.texts = f.Interner()
	f.Expect(usualPrompt)
	_, err := f.Forward(0, turnReach, func(l native.Line) bool {
		s.add(l.Bytes)
		known := s.message && s.first.Cwd != ""
		return !known || s.typed == "" && l.Offset < promptReach
	})
	return err
}

// readable reports whether what a file without a message holds can be told: other records, nothing, or a first one
// that its writer has not finished.
func (s *headScan) readable(f *native.File) bool {
	if s.lines > 0 {
		return s.known && !s.damaged
	}
	var begin [1]byte
	n, _ := f.ReadAt(begin[:], 0)
	return n == 0 || begin[0] == '{' && f.Size() < turnReach
}

func (s *headScan) add(raw []byte) {
	kind := noteType(raw)
	s.lines, s.known = s.lines+1, s.known || kind != nil
	s.date(kind, raw)
	if kind != nil {
		s.notes.add(kind, raw, true)
		return
	}
	if s.first.Cwd != "" && isAttachment(raw) {
		return
	}
	l, ok := parseLine(raw)
	if !ok {
		s.damaged = s.damaged || native.Damaged(raw)
		return
	}
	s.known = s.known || l.Type != ""
	if s.first.Cwd == "" {
		s.first = l.place(s.texts)
	}
	if !s.copies.begun {
		s.copies.begun, s.recorded = true, l.Timestamp.Time()
	}
	if !l.conversation() {
		return
	}
	if !s.message {
		s.message, s.sidechain = true, l.IsSidechain
		s.continued = l.ParentUUID.Text(0) != ""
	}
	if s.model == "" && l.Type == "assistant" && !l.synthetic() {
		s.model = s.texts.Intern(l.Model)
	}
	prompt, command := promptOf(&l)
	if command {
		s.command = cmp.Or(s.command, prompt)
	} else {
		s.typed = prompt
	}
}

// date takes the time of the first record that has one, and of the notes that date the session.
func (s *headScan) date(kind, raw []byte) {
	dates := s.copies.dates(kind)
	if !dates && (!s.created.IsZero() || isTimeless(kind)) {
		return
	}
	made := timeOf(raw)
	if s.created.IsZero() && string(kind) != "file-history-snapshot" {
		s.created = made
	}
	if dates {
		s.copies.note(made)
	}
}

// tailScan reads a transcript from its end.
type tailScan struct {
	texts   *native.Interner
	side    bool  // a sub-agent's transcript: its chain is the main one
	last    place // that of the newest conversation record
	updated time.Time
	model   string
	turn    turnScan
	notes   notes
	leave   leave
	stated  stated
	printed string // the first prompt where a print run began the transcript
	from    int64  // what stands behind was looked at, from the beginning of a line on
	began   bool   // when the turn began is asked for, however far back that stands
	whole   bool   // the whole file was looked at
}

// read looks as far back as need be, mostly no farther than the first read brings.
func (s *tailScan) read(f *native.File) (err error) {
	s.texts = f.Interner()
	reach := int64(turnReach)
	if s.began {
		reach = f.Size()
	}
	f.Expect(usualTurn)
	s.from = f.Size()
	s.whole, err = f.Backward(reach, func(l native.Line) bool {
		if s.from = l.Offset; !l.Cut {
			s.add(l)
		}
		switch behind := f.Size() - l.Offset; {
		case s.wantsBegan():
			return true
		case !s.turn.done():
			return behind < turnReach
		case s.model == "":
			return behind < modelReach
		case s.inProgress():
			return behind < beganReach
		default:
			return l.Buffered
		}
	})
	return err
}

func (s *tailScan) add(line native.Line) {
	raw := line.Bytes
	kind := noteType(raw)
	s.stated.see(kind, raw)
	var stamp native.Value
	if !isTimeless(kind) {
		stamp = stampNearEnd(raw)
		if stamp == nil && !(s.turn.done() && isResult(raw)) { // where it has to be searched for, and nothing depends on it
			stamp = stampFromBegin(raw)
		}
		if at := stamp.Time(); at.After(s.updated) { // file order is not quite the order of time
			s.updated = at
		}
	}
	if kind != nil {
		s.notes.add(kind, raw, false)
		if string(kind) == "last-prompt" && s.last.Cwd == "" {
			s.leave.see(line, s.printed)
		}
		return
	}
	if s.turn.done() && !s.wants(raw, stamp) || isAttachment(raw) {
		return
	}
	l, ok := parseLine(raw)
	if !ok && native.Damaged(raw) {
		s.turn.miss()
	}
	if !ok || l.Type == "" {
		return
	}
	if s.last.Cwd == "" {
		s.last = l.place(s.texts)
	}
	if l.IsSidechain != s.side {
		return
	}
	if s.model == "" && l.Type == "assistant" && !l.synthetic() {
		s.model = s.texts.Intern(l.Model)
	}
	if !s.turn.done() || l.Type == "user" {
		s.turn.add(&l)
	}
}

// wants reports whether a record with this time may tell the model, or when the turn began, where that is not known.
func (s *tailScan) wants(raw []byte, stamp native.Value) bool {
	return s.wantsBegan() || s.turn.turn.Began.IsZero() && isPrompt(stamp) ||
		s.model == "" && bytes.Contains(raw, []byte(`"model":"`))
}

// inProgress reports whether the turn has no end, and when it began is not known.
func (s *tailScan) inProgress() bool {
	return s.turn.turn.State == discover.TurnOpen && s.turn.turn.Began.IsZero()
}

// wantsBegan reports whether when the turn began is asked for and not known.
func (s *tailScan) wantsBegan() bool { return s.began && s.turn.turn.Began.IsZero() }
