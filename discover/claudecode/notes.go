package claudecode

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"

	"agentctl/discover/native"
)

// notes are the facts that stand in records of their own, appended again now and then: the newest one counts. nil: not seen.
type notes [noteKinds]*string

const (
	customTitle = iota // the person's
	aiTitle
	relocated // a directory that replaces the recorded one
	worktree  // the branch of a worktree that Claude Code made and the session is in; "" once it has left it
	moved     // the background session that this one has become
	cost      // in USD
	noteKinds
)

// get is the text of a note, "" where there is none.
func (n *notes) get(kind int) string {
	if n[kind] == nil {
		return ""
	}
	return *n[kind]
}

func (n *notes) title() string { return cmp.Or(n.get(customTitle), n.get(aiTitle)) }

// usd is the cost; nil where none is stated.
func (n *notes) usd() *float64 {
	if n[cost] == nil {
		return nil
	}
	usd, _ := strconv.ParseFloat(*n[cost], 64) // it is a number
	return &usd
}

// noteField is what a note tells, and under which key; "" for notes that tell nothing of it.
func noteField(kind []byte) (field int, key string) {
	switch string(kind) {
	case "custom-title":
		return customTitle, "customTitle"
	case "ai-title":
		return aiTitle, "aiTitle"
	case "relocated":
		return relocated, "relocatedCwd"
	case "worktree-state":
		return worktree, "worktreeSession"
	case "continued-in":
		return moved, "continuedInSessionId"
	case "cost-state":
		return cost, "totalCostUSD"
	}
	return 0, ""
}

// add takes a note; newest says that it is newer than those seen, else it only fills gaps. A title may be taken away, by an
// empty one, and so may a worktree.
func (n *notes) add(kind, raw []byte, newest bool) {
	field, key := noteField(kind)
	if key == "" || n[field] != nil && !newest {
		return
	}
	note := native.Object(raw)
	v := note.Get(key)
	text := v.Text(0)
	known := text != ""
	switch field {
	case customTitle, aiTitle:
		known = true
	case worktree:
		text, known = v.Object().Get("worktreeBranch").Text(0), v != nil
	case cost:
		text = string(v.Raw())
		_, err := strconv.ParseFloat(text, 64)
		known = err == nil
	}
	if known && note.Complete() {
		n[field] = &text
	}
}

// before fills the gaps with what stands farther ahead in the file.
func (n *notes) before(older *notes) {
	for i := range n {
		n[i] = cmp.Or(n[i], older[i])
	}
}

// How far back notes stand, in bytes. Claude Code states all that it knows anew whenever it has written 32 KB; and where it leaves a
// transcript, those notes that do not stand in the last 32 KB as they are now (READ 2.1.197, 2.1.330; SEEN in both). What stands
// farther back than 64 KB it does not look for itself.
const (
	restatedReach = 32 << 10
	notesReach    = 64 << 10
	// usualNotes is what is read for them at first.
	usualNotes = 20 << 10
)

// leave is the note with which Claude Code left a transcript: the newest last-prompt, where nothing but notes follows it.
type leave struct {
	offset int64
	ok     bool
	single bool // its prompt is the first one, of a print run
}

// see takes a last-prompt, newest first. first is the prompt of the print run that began the transcript; "" in others.
func (e *leave) see(l native.Line, first string) {
	raw := l.Bytes
	if e.ok || isCheckpoint(raw) {
		return
	}
	e.ok, e.offset = true, l.Offset
	if first == "" {
		return
	}
	const more = "…"
	last, isCut := strings.CutSuffix(native.Object(raw).Get("lastPrompt").Text(0), more)
	e.single = first == last || isCut && strings.HasPrefix(first, last)
}

// print is the name of a print run's entrypoint.
const print = "sdk-cli"

// printed is the first prompt as last-prompt gives it, on one line, where a print run began the transcript; "" elsewhere.
func (s *headScan) printed() string {
	if s.first.Entrypoint != print {
		return ""
	}
	prompt := s.prompt()
	if strings.IndexByte(prompt, '\n') < 0 {
		return prompt
	}
	return strings.ReplaceAll(prompt, "\n", " ")
}

// stated looks, newest line first, for the place where Claude Code stated all of its notes in the midst of a turn: it has written
// 32 KB then, and leaves none out, as it does where it begins or ends. What stands before counts no more.
type stated struct {
	next [512]byte // how the record that follows begins, but for notes
	size int
	call bool // it is a call of the model instead
	all  bool
}

func (s *stated) see(kind, raw []byte) {
	switch string(kind) {
	case "":
		s.size, s.call = copy(s.next[:], raw), false
	case "api-request", "api-request-shape", "api-request-blob":
		s.call = true
	case "last-prompt": // it comes first
		s.all = s.all || (s.call || inTurn(s.next[:s.size])) && !isCheckpoint(raw)
	case "custom-title", "ai-title", "agent-name", "agent-color", "agent-setting", "tag", "relocated", "mode", "permission-mode",
		"atis-latch", "isolation-latch", "worktree-state":
	default:
		s.size, s.call = 0, false
	}
}

// inTurn reports whether a record that begins so belongs to a turn that was in progress before it: an answer, or a tool's result.
func inTurn(begin []byte) bool {
	return bytes.Contains(begin, []byte(`"role":"assistant"`)) || isResult(begin)
}

// isCheckpoint tells a last-prompt that only marks a place in the conversation.
func isCheckpoint(raw []byte) bool {
	const behind = 200 // the prompt, which comes before the rest
	return bytes.Contains(raw[max(0, len(raw)-behind):], []byte(`"explicit":true`))
}

// noted reports whether all notes that count stand in what was looked at: what one print run alone wrote, was called something
// from the beginning.
func (s *tailScan) noted() bool {
	return s.whole || s.side || s.stated.all || s.leave.single && s.last.Entrypoint == print
}

// readNotes looks for the notes that stand before what was looked at for the turn.
func (s *tailScan) readNotes(f *native.File) error {
	const page = 4 << 10
	begin := f.Size() - notesReach
	if s.leave.ok {
		begin = s.leave.offset - restatedReach
	}
	begin = max(0, begin) &^ (page - 1) // a part of a page is as dear as all of it
	if s.noted() || begin >= s.from {
		return nil
	}
	rest := f.Head(s.from)
	rest.Expect(usualNotes)
	_, err := rest.Backward(s.from-begin, func(l native.Line) bool {
		kind := noteType(l.Bytes)
		s.notes.add(kind, l.Bytes, false)
		s.stated.see(kind, l.Bytes)
		return !s.stated.all
	})
	return err
}
