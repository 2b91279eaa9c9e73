package claudecode

import (
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
	TurnOnly      bool // metadata is read otherwise
	EnvelopeOnly  bool // neither the turn nor the model is asked for
	Whole         bool // the whole file was read
	damage        storage.Damage
}

// Read reads backwards as far as necessary.
func (s *tailReader) Read(f *storage.File) (err error) {
	reach := int64(turnReach)
	if s.NeedTurnStart {
		reach = f.Size()
	}
	s.Whole, err = f.ParseBackward(reach, parser(func(l storage.Line, r *rawRecord) bool {
		behind := f.Size() - l.Offset
		switch {
		case r != nil:
			s.add(r, behind <= metadataReach)
			s.Turn.afterFirst = s.Turn.afterFirst || r.isFirst()
		case l.Rest && !s.Turn.complete():
			s.damage.Add(l)
			s.Turn.addDamaged()
		}
		if s.EnvelopeOnly {
			return s.Last.Cwd == "" && behind < turnReach
		}
		near := behind < metadataReach && (!s.TurnOnly || s.Turn.state.Began.IsZero())
		return near || s.needsTurnStart() || (!s.Turn.complete() || s.Model == "") && behind < turnReach
	}))
	return err
}

// add takes the next record. near: it is so near to the end that metadata counts.
func (s *tailReader) add(l *rawRecord, near bool) {
	if near && l.isMetadata() {
		s.Metadata.add(l, false)
	}
	if s.Turn.complete() && !s.mayMatter(l) {
		return
	}
	if at := l.time(); at.After(s.Updated) { // records are not quite in the order of time
		s.Updated = at
	}
	if l.Type == "" || l.Type == "attachment" || l.isMetadata() {
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
		s.Turn.add(l)
	}
}

// mayMatter reports whether a record may tell the model, or when the turn began, where that is not known yet. Of all records,
// prompts have a permission mode (SEEN 2.1.75–2.1.330; slash commands may have none).
func (s *tailReader) mayMatter(l *rawRecord) bool {
	return s.Model == "" || s.needsTurnStart() || s.Turn.state.Began.IsZero() && l.PermissionMode != ""
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
func metadataField(kind string) (field int, key string) {
	switch kind {
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
func (n *metadataValues) add(l *rawRecord, newest bool) {
	field, key := metadataField(l.Type)
	if key == "" || n[field] != nil && !newest {
		return
	}
	v := l.Get(key)
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
	if known {
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
