package claudecode

import (
	"bytes"
	"cmp"
	"strconv"
	"strings"
	"time"

	"agentctl/discover/storage"
)

// tailReader is what the end of a transcript says.
type tailReader struct {
	Sidechain     bool     // it is a sub-agent's transcript: sidechain records count
	Last          envelope // of the newest record that has one
	Updated       time.Time
	Model         string
	Turn          turnReader
	Metadata      metadataValues
	NeedTurnStart bool // read back to the beginning of the turn, however far that is
	Whole         bool // the whole file was read
	damage        storage.Damage
}

// Read reads backwards as far as necessary.
func (s *tailReader) Read(f *storage.File) (err error) {
	reach := int64(turnReach)
	if s.NeedTurnStart {
		reach = f.Size()
	}
	s.Whole, err = f.RecordsBackward(reach, func(l storage.Line) bool {
		if !l.Cut {
			s.add(l, f.Size()-l.Offset <= metadataReach)
			s.Turn.afterFirst = s.Turn.afterFirst || metadataType(l.Bytes) == nil && isFirst(l.Bytes)
		}
		behind := f.Size() - l.Offset
		return behind < metadataReach || s.needsTurnStart() || (!s.Turn.complete() || s.Model == "") && behind < turnReach
	})
	return err
}

// add takes the next line. near: it is so near to the end that metadata counts.
func (s *tailReader) add(line storage.Line, near bool) {
	if line.Rest {
		if !s.Turn.complete() {
			s.damage.Add(line)
			s.Turn.addDamaged()
		}
		return
	}
	raw := line.Bytes
	kind := metadataType(raw)
	if kind != nil && near {
		s.Metadata.add(kind, raw, false)
	}
	if s.Turn.complete() && !s.mayMatter(raw) {
		return
	}
	if at := timeOf(raw); at.After(s.Updated) { // records are not quite in the order of time
		s.Updated = at
	}
	if kind != nil || isAttachment(raw) {
		return
	}
	l, ok := parseRecord(raw)
	if !ok {
		s.damage.Add(line)
		s.Turn.addDamaged()
	}
	if !ok || l.Type == "" {
		return
	}
	if s.Last.Cwd == "" {
		s.Last = l.envelope()
	}
	if l.IsSidechain != s.Sidechain {
		return
	}
	if s.Model == "" && l.Type == "assistant" && !l.synthetic() {
		s.Model = l.Model.Text(0)
	}
	if !s.Turn.complete() || l.Type == "user" {
		s.Turn.add(&l)
	}
}

// mayMatter reports whether a record may tell the model, or when the turn began, where that is not known yet. Of all records,
// prompts have a permission mode, near the end (SEEN 2.1.75–2.1.330; slash commands may have none).
func (s *tailReader) mayMatter(raw []byte) bool {
	return s.Model == "" || s.needsTurnStart() ||
		s.Turn.state.Began.IsZero() && bytes.Contains(raw[max(0, len(raw)-1024):], []byte(`"permissionMode"`))
}

// needsTurnStart reports whether the caller asked when the turn began, and that is not known.
func (s *tailReader) needsTurnStart() bool { return s.NeedTurnStart && s.Turn.state.Began.IsZero() }

// Branch returns the git branch. In a worktree that Claude Code made, records name the branch that the worktree was made
// from (2.1.197), so the worktree's branch in the metadata wins. A session that has left its worktree (SEEN 2.1.329,
// 2.1.330) is on the branch that its records name.
func (s *tailReader) Branch() string {
	if b := s.Metadata.Get(worktreeBranch); b != "" {
		return b
	}
	inWorktree := strings.Contains(s.Last.Cwd, "/.claude/worktrees/")
	if s.Last.GitBranch == "HEAD" || inWorktree {
		return ""
	}
	return s.Last.GitBranch
}

// metadataValues is what records other than those of the conversation say of a session. Claude Code appends them anew now and
// then: the newest of each kind counts. A value is nil if none was read.
type metadataValues [metadataFields]*string

const (
	customTitle = iota // the title that the user has given
	aiTitle
	relocatedDir   // the directory that the session was moved to
	worktreeBranch // the branch of the worktree that Claude Code made for the session; "" once the session has left it
	continuedIn    // the background session that this session continues as
	costUSD        // in USD
	metadataFields
)

// Get returns the value of a field, "" if there is none.
func (n *metadataValues) Get(kind int) string {
	if n[kind] == nil {
		return ""
	}
	return *n[kind]
}

// Title returns the user's title, else the agent's.
func (n *metadataValues) Title() string { return cmp.Or(n.Get(customTitle), n.Get(aiTitle)) }

// CostUSD returns the cost; nil if none is recorded.
func (n *metadataValues) CostUSD() *float64 {
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
		return customTitle, "customTitle"
	case "ai-title":
		return aiTitle, "aiTitle"
	case "relocated":
		return relocatedDir, "relocatedCwd"
	case "worktree-state":
		return worktreeBranch, "worktreeSession"
	case "continued-in":
		return continuedIn, "continuedInSessionId"
	case "cost-state":
		return costUSD, "totalCostUSD"
	}
	return 0, ""
}

// add takes a metadata record. newest says that it is newer than those taken before; else it only fills gaps. An empty
// title removes the title, and so does a worktree-state without a worktree.
func (n *metadataValues) add(kind, raw []byte, newest bool) {
	field, key := metadataField(kind)
	if key == "" || n[field] != nil && !newest {
		return
	}
	record := storage.Object(raw)
	v := record.Get(key)
	text := strings.TrimSpace(v.Text(0))
	known := text != ""
	switch field {
	case customTitle, aiTitle:
		known = true
	case worktreeBranch:
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
func (n *metadataValues) FillFrom(older *metadataValues) {
	for i := range n {
		n[i] = cmp.Or(n[i], older[i])
	}
}

// printEntrypoint is the entrypoint of print mode (-p).
const printEntrypoint = "sdk-cli"
