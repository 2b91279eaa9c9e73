package claudecode

import (
	"bytes"
	"cmp"
	"time"

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
	// notesReach: from the end, for titles and other notes; usualTurn: what brings so much, in whole pages.
	notesReach = 12 << 10
	usualTurn  = 16 << 10
	// usualPrompt: from the start, where most transcripts have told the first prompt.
	usualPrompt = 4 << 10
)

// notes are the facts that stand in records of their own, appended again now and then: the newest one counts.
type notes struct {
	custom, ai *string // titles: the person's, the agent's; nil: not seen
	relocated  string  // a directory that replaces the recorded one
	worktree   *string // the branch of a worktree that Claude Code made and the session is in; nil: not seen
	moved      string  // the background session that this one has become
	cost       *float64
}

func (n *notes) title() string {
	for _, t := range []*string{n.custom, n.ai} {
		if t != nil && *t != "" {
			return *t
		}
	}
	return ""
}

// add takes a note; newest says that it is newer than those seen, else it only fills gaps.
func (n *notes) add(kind, raw []byte, newest bool) {
	switch string(kind) {
	case "custom-title", "ai-title", "relocated", "worktree-state", "cost-state", "continued-in":
	default:
		return
	}
	l, ok := parseLine(raw)
	if !ok {
		return
	}
	switch l.Type {
	case "custom-title":
		title := l.CustomTitle // alone, or all of l would be kept
		n.custom = pick(n.custom, &title, newest)
	case "ai-title":
		title := l.AITitle
		n.ai = pick(n.ai, &title, newest)
	case "cost-state":
		n.cost = pick(n.cost, l.TotalCostUSD, newest)
	case "continued-in":
		n.moved = pickText(n.moved, l.ContinuedIn, newest)
	case "relocated":
		n.relocated = pickText(n.relocated, l.RelocatedCwd, newest)
	case "worktree-state":
		n.worktree = pick(n.worktree, l.WorktreeBranch, newest)
	}
}

func pick[T any](old, now *T, newest bool) *T {
	if now == nil || old != nil && !newest {
		return old
	}
	return now
}

func pickText(old, now string, newest bool) string {
	if newest {
		return cmp.Or(now, old)
	}
	return cmp.Or(old, now)
}

// headScan reads a transcript from its beginning.
type headScan struct {
	texts   *native.Texts
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
	s.texts = f.Texts()
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
		s.model = s.texts.Of(l.Model)
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
	first := s.created.IsZero() && !isTimeless(kind) && string(kind) != "file-history-snapshot"
	dates := s.copies.dates(kind)
	if !first && !dates {
		return
	}
	made := timeOf(raw)
	if first {
		s.created = made
	}
	if dates {
		s.copies.note(made)
	}
}

// tailScan reads a transcript from its end.
type tailScan struct {
	texts   *native.Texts
	side    bool  // a sub-agent's transcript: its chain is the main one
	last    place // that of the newest conversation record
	updated native.Newest
	model   string
	turn    turnScan
	notes   notes
	began   bool // when the turn began is asked for, however far back that stands
	whole   bool // the whole file was looked at
}

// read looks as far back as need be, mostly no farther than the first read brings.
func (s *tailScan) read(f *native.File) (err error) {
	s.texts = f.Texts()
	reach := int64(turnReach)
	if s.began {
		reach = f.Size()
	}
	f.Expect(usualTurn)
	s.whole, err = f.Backward(reach, func(l native.Line) bool {
		if !l.Cut {
			s.add(l.Bytes)
		}
		switch behind := f.Size() - l.Offset; {
		case s.wantsBegan():
			return true
		case !s.turn.done():
			return behind < turnReach
		case s.model == "":
			return behind < modelReach
		default:
			return behind < notesReach && l.Near
		}
	})
	return err
}

func (s *tailScan) add(raw []byte) {
	kind := noteType(raw)
	if isTimeless(kind) {
		s.notes.add(kind, raw, false)
		return
	}
	stamp := stampOf(raw)
	s.updated.See(stamp) // file order is not quite the order of time
	if kind != nil {
		s.notes.add(kind, raw, false)
		return
	}
	if s.turn.done() && !s.hasModel(raw) && !s.hasPrompt(stamp) || isAttachment(raw) {
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
		s.model = s.texts.Of(l.Model)
	}
	if !s.turn.done() || l.Type == "user" {
		s.turn.add(&l)
	}
}

// hasPrompt reports whether the record with this time is the prompt whose time is still wanted.
func (s *tailScan) hasPrompt(stamp native.Value) bool {
	return s.wantsBegan() || s.turn.turn.Began.IsZero() && isPrompt(stamp)
}

// wantsBegan reports whether when the turn began is asked for and not known.
func (s *tailScan) wantsBegan() bool { return s.began && s.turn.turn.Began.IsZero() }

// hasModel reports whether a record may name the model that is still wanted.
func (s *tailScan) hasModel(raw []byte) bool {
	return s.model == "" && bytes.Contains(raw, []byte(`"model":"`))
}
