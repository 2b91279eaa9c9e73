package transcript

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"

	"agentctl/discover/native/fsread"
	"agentctl/discover/native/jsonl"
)

// Metadata is what records other than those of the conversation say of a session. Claude Code appends them anew now and
// then: the newest of each kind counts. A value is nil if none was read.
type Metadata [metadataFields]*string

const (
	CustomTitle = iota // the title that the user has given
	aiTitle
	RelocatedDir   // the directory that the session was moved to
	WorktreeBranch // the branch of the worktree that Claude Code made for the session; "" once the session has left it
	ContinuedIn    // the background session that this session continues as
	costUSD        // in USD
	metadataFields
)

// Get returns the value of a field, "" if there is none.
func (n *Metadata) Get(kind int) string {
	if n[kind] == nil {
		return ""
	}
	return *n[kind]
}

// Title returns the user's title, else the agent's.
func (n *Metadata) Title() string { return cmp.Or(n.Get(CustomTitle), n.Get(aiTitle)) }

// CostUSD returns the cost; nil if none is recorded.
func (n *Metadata) CostUSD() *float64 {
	if n[costUSD] == nil {
		return nil
	}
	usd, _ := strconv.ParseFloat(*n[costUSD], 64) // it is a number
	return &usd
}

// metadataField returns the field that a record of this kind sets, and the key of its value; "" for other kinds.
func metadataField(kind []byte) (field int, key string) {
	switch string(kind) {
	case "custom-title":
		return CustomTitle, "customTitle"
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

// add takes a metadata record. newest says that it is newer than those taken before; else it only fills gaps. An empty
// title removes the title, and so does a worktree-state without a worktree.
func (n *Metadata) add(kind, raw []byte, newest bool) {
	field, key := metadataField(kind)
	if key == "" || n[field] != nil && !newest {
		return
	}
	record := jsonl.Object(raw)
	v := record.Get(key)
	text := v.Text(0)
	known := text != ""
	switch field {
	case CustomTitle, aiTitle:
		known = true
	case WorktreeBranch:
		text, known = v.Object().Get("worktreeBranch").Text(0), v != nil
	case costUSD:
		text = string(v.Raw())
		_, err := strconv.ParseFloat(text, 64)
		known = err == nil
	}
	if known && record.Complete() {
		n[field] = &text
	}
}

// FillFrom fills the gaps with older metadata.
func (n *Metadata) FillFrom(older *Metadata) {
	for i := range n {
		n[i] = cmp.Or(n[i], older[i])
	}
}

// How far from the end metadata is, in bytes. Claude Code writes all its metadata anew whenever it has written 32 KB. When
// it leaves a transcript, it writes anew what is not in the last 32 KB as it is now (READ 2.1.197, 2.1.330; SEEN in both).
// It does not search farther back than 64 KB itself.
const (
	restateReach  = 32 << 10
	MetadataReach = 64 << 10
)

// exitMark is the last-prompt record that Claude Code wrote when it left the transcript: the newest one, followed by
// nothing but metadata.
type exitMark struct {
	offset       int64
	ok           bool
	singlePrompt bool // its prompt is the first one: there was only one print run
}

// add takes a last-prompt record, newest first. first is the prompt of the print run that began the transcript, "" if none
// did.
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

// printEntrypoint is the entrypoint of print mode (-p).
const printEntrypoint = "sdk-cli"

// PrintPrompt returns the first prompt as last-prompt records have it, on one line, if a print run began the transcript;
// else "".
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

// restatement finds, newest line first, the place where Claude Code wrote all its metadata anew in the middle of a turn,
// having written 32 KB since the last time. Such a block is complete, unlike those that it writes when it begins or ends.
// Older metadata does not count.
type restatement struct {
	next      [512]byte // the beginning of the conversation record that follows
	size      int
	modelCall bool // what follows is the record of a call of the model instead
	all       bool
}

func (s *restatement) add(kind, raw []byte) {
	switch string(kind) {
	case "":
		s.size, s.modelCall = copy(s.next[:], raw), false
	case "api-request", "api-request-shape", "api-request-blob":
		s.modelCall = true
	case "last-prompt": // the first record of each block
		s.all = s.all || (s.modelCall || inTurn(s.next[:s.size])) && !isCheckpoint(raw)
	case "custom-title", "ai-title", "agent-name", "agent-color", "agent-setting", "tag", "relocated", "mode", "permission-mode",
		"atis-latch", "isolation-latch", "worktree-state":
	default:
		s.size, s.modelCall = 0, false
	}
}

// inTurn reports whether a record with this beginning continues a turn: an answer, or a tool's result.
func inTurn(begin []byte) bool {
	return bytes.Contains(begin, []byte(`"role":"assistant"`)) || isToolResult(begin)
}

// isCheckpoint reports whether a last-prompt record only marks a place in the conversation.
func isCheckpoint(raw []byte) bool {
	const behind = 200 // of the record: its members after the prompt
	return bytes.Contains(raw[max(0, len(raw)-behind):], []byte(`"explicit":true`))
}

// metadataComplete reports whether all metadata that counts was read: sub-agents have none of their own, and a single print
// run gets its title, if any, at its beginning.
func (s *Tail) metadataComplete() bool {
	return s.Whole || s.Sidechain || s.restated.all || s.exit.singlePrompt && s.Last.Entrypoint == printEntrypoint
}

// ReadMetadata reads the metadata before the records that Read has read.
func (s *Tail) ReadMetadata(f *fsread.File) error {
	const page = 4 << 10
	begin := f.Size() - MetadataReach
	if s.exit.ok {
		begin = s.exit.offset - restateReach
	}
	begin = max(0, begin) &^ (page - 1) // reading part of a page costs as much as all of it
	if s.metadataComplete() || begin >= s.from {
		return nil
	}
	rest := f.Head(s.from)
	_, err := rest.Backward(s.from-begin, func(l fsread.Line) bool {
		kind := metadataType(l.Bytes)
		s.Metadata.add(kind, l.Bytes, false)
		s.restated.add(kind, l.Bytes)
		return !s.restated.all
	})
	return err
}
