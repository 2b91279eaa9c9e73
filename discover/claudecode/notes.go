package claudecode

import (
	"cmp"
	"strings"

	"agentctl/discover/native"
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

// before fills the gaps with what stands farther ahead in the file.
func (n *notes) before(older *notes) {
	n.custom, n.ai = pick(n.custom, older.custom, false), pick(n.ai, older.ai, false)
	n.relocated, n.moved = cmp.Or(n.relocated, older.relocated), cmp.Or(n.moved, older.moved)
	n.worktree, n.cost = pick(n.worktree, older.worktree, false), pick(n.cost, older.cost, false)
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

// How far back notes stand, in bytes. Claude Code states all that it knows anew whenever it has written 32 KB; and where it leaves a
// transcript, those notes that do not stand in the last 32 KB as they are now (READ 2.1.197, 2.1.330; SEEN in both). What stands
// farther back than 64 KB it does not look for itself.
const (
	restatedReach = 32 << 10
	notesReach    = 64 << 10
)

// leave is the note with which Claude Code left a transcript: the newest last-prompt, where nothing but notes follows it.
type leave struct {
	offset int64
	prompt string // cut at 200 characters, on one line
	ok     bool
}

// see takes a last-prompt, newest first.
func (e *leave) see(l native.Line) {
	if e.ok {
		return
	}
	e.ok, e.offset = true, l.Offset
	for key, v := range native.Object(l.Bytes).Members() {
		switch string(key) {
		case "lastPrompt":
			e.prompt = v.Text(0)
		case "explicit": // it only marks where the conversation stands
			e.ok = e.ok && !isTrue(v)
		}
	}
}

// restated is the least offset at which a note may stand that counts and is not stated behind it.
func (s *tailScan) restated(size int64) int64 {
	if s.leave.ok {
		return s.leave.offset - restatedReach
	}
	return size - notesReach
}

// single reports whether one print run wrote all of the transcript: its first prompt is its last. What it is called, it was called
// from the beginning.
func (s *tailScan) single(head *headScan) bool {
	const print, more = "sdk-cli", "…"
	if !s.leave.ok || s.last.Entrypoint != print || head.first.Entrypoint != print {
		return false
	}
	first := head.prompt()
	if strings.IndexByte(first, '\n') >= 0 {
		first = strings.ReplaceAll(first, "\n", " ")
	}
	last, isCut := strings.CutSuffix(s.leave.prompt, more)
	return first == last || isCut && strings.HasPrefix(first, last)
}

// readNotes looks for the notes that stand before what was looked at for the turn.
func (s *tailScan) readNotes(f *native.File, head *headScan) error {
	const page = 4 << 10
	begin := max(0, s.restated(f.Size())) &^ (page - 1) // a part of a page is as dear as all of it
	if s.whole || s.side || begin >= s.from || s.single(head) {
		return nil
	}
	rest := f.Head(s.from)
	rest.Expect(s.from - begin)
	_, err := rest.Backward(s.from-begin, func(l native.Line) bool {
		s.notes.add(noteType(l.Bytes), l.Bytes, false)
		return true
	})
	return err
}
