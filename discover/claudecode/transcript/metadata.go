package transcript

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"

	"agentctl/discover/native/fsread"
	"agentctl/discover/native/jsonl"
)

// Metadata are the facts that stand in records of their own, appended again now and then: the newest one counts. nil: not seen.
type Metadata [metadataFields]*string

const (
	customTitle = iota // the person's
	aiTitle
	RelocatedDir   // a directory that replaces the recorded one
	WorktreeBranch // the branch of a worktree that Claude Code made and the session is in; "" once it has left it
	ContinuedIn    // the background session that this one has become
	costUSD        // in USD
	metadataFields
)

// Get is the text of a note, "" where there is none.
func (n *Metadata) Get(kind int) string {
	if n[kind] == nil {
		return ""
	}
	return *n[kind]
}

// Title returns the person's title, else the agent's.
func (n *Metadata) Title() string { return cmp.Or(n.Get(customTitle), n.Get(aiTitle)) }

// CostUSD is the cost; nil where none is stated.
func (n *Metadata) CostUSD() *float64 {
	if n[costUSD] == nil {
		return nil
	}
	usd, _ := strconv.ParseFloat(*n[costUSD], 64) // it is a number
	return &usd
}

// metadataField is what a note tells, and under which key; "" for notes that tell nothing of it.
func metadataField(kind []byte) (field int, key string) {
	switch string(kind) {
	case "custom-title":
		return customTitle, "customTitle"
	case "ai-title":
		return aiTitle, "aiTitle"
	case "relocated":
		return RelocatedDir, "relocatedCwd"
	case "worktree-state":
		return WorktreeBranch, "worktreeSession"
	case "continued-in":
		return ContinuedIn, "continuedInSessionId"
	case "cost-state":
		return costUSD, "totalCostUSD"
	}
	return 0, ""
}

// add takes a note; newest says that it is newer than those seen, else it only fills gaps. A title may be taken away, by an
// empty one, and so may a worktree.
func (n *Metadata) add(kind, raw []byte, newest bool) {
	field, key := metadataField(kind)
	if key == "" || n[field] != nil && !newest {
		return
	}
	note := jsonl.Object(raw)
	v := note.Get(key)
	text := v.Text(0)
	known := text != ""
	switch field {
	case customTitle, aiTitle:
		known = true
	case WorktreeBranch:
		text, known = v.Object().Get("worktreeBranch").Text(0), v != nil
	case costUSD:
		text = string(v.Raw())
		_, err := strconv.ParseFloat(text, 64)
		known = err == nil
	}
	if known && note.Complete() {
		n[field] = &text
	}
}

// FillFrom fills the gaps with what stands farther ahead in the file.
func (n *Metadata) FillFrom(older *Metadata) {
	for i := range n {
		n[i] = cmp.Or(n[i], older[i])
	}
}

// How far back notes stand, in bytes. Claude Code states all that it knows anew whenever it has written 32 KB; and where it leaves a
// transcript, those notes that do not stand in the last 32 KB as they are now (READ 2.1.197, 2.1.330; SEEN in both). What stands
// farther back than 64 KB it does not look for itself.
const (
	restateReach  = 32 << 10
	MetadataReach = 64 << 10
	// usualMetadata is what is read for them at first.
	usualMetadata = 20 << 10
)

// exitMark is the note with which Claude Code left a transcript: the newest last-prompt, where nothing but notes follows it.
type exitMark struct {
	offset       int64
	ok           bool
	singlePrompt bool // its prompt is the first one, of a print run
}

// add takes a last-prompt, newest first. first is the prompt of the print run that began the transcript; "" in others.
func (e *exitMark) add(l fsread.Line, first string) {
	raw := l.Bytes
	if e.ok || isCheckpoint(raw) {
		return
	}
	e.ok, e.offset = true, l.Offset
	if first == "" {
		return
	}
	const more = "…"
	last, isCut := strings.CutSuffix(jsonl.Object(raw).Get("lastPrompt").Text(0), more)
	e.singlePrompt = first == last || isCut && strings.HasPrefix(first, last)
}

// printEntrypoint is the name of a print run's entrypoint.
const printEntrypoint = "sdk-cli"

// PrintPrompt is the first prompt as last-prompt gives it, on one line, where a print run began the transcript; "" elsewhere.
func (s *Head) PrintPrompt() string {
	if s.First.Entrypoint != printEntrypoint {
		return ""
	}
	prompt := s.Prompt()
	if strings.IndexByte(prompt, '\n') < 0 {
		return prompt
	}
	return strings.ReplaceAll(prompt, "\n", " ")
}

// restatement looks, newest line first, for the place where Claude Code stated all of its notes in the midst of a turn: it has written
// 32 KB then, and leaves none out, as it does where it begins or ends. What stands before counts no more.
type restatement struct {
	next      [512]byte // how the record that follows begins, but for notes
	size      int
	modelCall bool // it is a call of the model instead
	all       bool
}

func (s *restatement) add(kind, raw []byte) {
	switch string(kind) {
	case "":
		s.size, s.modelCall = copy(s.next[:], raw), false
	case "api-request", "api-request-shape", "api-request-blob":
		s.modelCall = true
	case "last-prompt": // it comes first
		s.all = s.all || (s.modelCall || inTurn(s.next[:s.size])) && !isCheckpoint(raw)
	case "custom-title", "ai-title", "agent-name", "agent-color", "agent-setting", "tag", "relocated", "mode", "permission-mode",
		"atis-latch", "isolation-latch", "worktree-state":
	default:
		s.size, s.modelCall = 0, false
	}
}

// inTurn reports whether a record that begins so belongs to a turn that was in progress before it: an answer, or a tool's result.
func inTurn(begin []byte) bool {
	return bytes.Contains(begin, []byte(`"role":"assistant"`)) || isToolResult(begin)
}

// isCheckpoint tells a last-prompt that only marks a place in the conversation.
func isCheckpoint(raw []byte) bool {
	const behind = 200 // the prompt, which comes before the rest
	return bytes.Contains(raw[max(0, len(raw)-behind):], []byte(`"explicit":true`))
}

// metadataComplete reports whether all notes that count stand in what was looked at: what one print run alone wrote, was called something
// from the beginning.
func (s *Tail) metadataComplete() bool {
	return s.Whole || s.Sidechain || s.restated.all || s.exit.singlePrompt && s.Last.Entrypoint == printEntrypoint
}

// ReadMetadata looks for the notes that stand before what was looked at for the turn.
func (s *Tail) ReadMetadata(f *fsread.File) error {
	const page = 4 << 10
	begin := f.Size() - MetadataReach
	if s.exit.ok {
		begin = s.exit.offset - restateReach
	}
	begin = max(0, begin) &^ (page - 1) // a part of a page is as dear as all of it
	if s.metadataComplete() || begin >= s.from {
		return nil
	}
	rest := f.Head(s.from)
	rest.Expect(usualMetadata)
	_, err := rest.Backward(s.from-begin, func(l fsread.Line) bool {
		kind := metadataType(l.Bytes)
		s.Metadata.add(kind, l.Bytes, false)
		s.restated.add(kind, l.Bytes)
		return !s.restated.all
	})
	return err
}
