package transcript

import (
	"bytes"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
	"agentctl/discover/native/jsonl"
)

// Tail is what the end of a transcript says.
type Tail struct {
	Sidechain     bool     // it is a sub-agent's transcript: sidechain records count
	Last          Envelope // of the newest record that has one
	Updated       time.Time
	Model         string
	Turn          Turn
	Metadata      Metadata
	NeedTurnStart bool // read back to the beginning of the turn, however far that is
	Whole         bool // the whole file was read
}

// Read reads backwards as far as necessary.
func (s *Tail) Read(f *fsread.File) (err error) {
	reach := int64(TurnReach)
	if s.NeedTurnStart {
		reach = f.Size()
	}
	s.Whole, err = f.Backward(reach, func(l fsread.Line) bool {
		if !l.Cut {
			s.add(l)
			s.Turn.afterFirst = s.Turn.afterFirst || bytes.HasPrefix(l.Bytes, []byte(`{"parentUuid":null,`))
		}
		switch behind := f.Size() - l.Offset; {
		case s.needsTurnStart():
			return true
		case !s.Turn.complete():
			return behind < TurnReach
		case s.Model == "":
			return behind < modelReach
		case s.inProgress():
			return behind < turnStartReach
		case !s.Sidechain: // sub-agents have no metadata of their own
			return behind < metadataReach
		default:
			return l.Buffered
		}
	})
	return err
}

func (s *Tail) add(line fsread.Line) {
	raw := line.Bytes
	kind := metadataType(raw)
	if kind != nil {
		s.Metadata.add(kind, raw, false)
	}
	if s.Turn.complete() && !s.mayMatter(raw) {
		return
	}
	if at := TimeOf(raw); at.After(s.Updated) { // records are not quite in the order of time
		s.Updated = at
	}
	if kind != nil || isAttachment(raw) {
		return
	}
	l, ok := ParseRecord(raw)
	if !ok && jsonl.Damaged(raw) {
		s.Turn.addDamaged()
	}
	if !ok || l.Type == "" {
		return
	}
	if s.Last.Cwd == "" {
		s.Last = l.Envelope()
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
func (s *Tail) mayMatter(raw []byte) bool {
	return s.Model == "" || s.needsTurnStart() ||
		s.Turn.state.Began.IsZero() && bytes.Contains(raw[max(0, len(raw)-512):], []byte(`"permissionMode":"`))
}

// inProgress reports whether the turn has no end, and when it began is not known.
func (s *Tail) inProgress() bool {
	return s.Turn.state.State == discover.TurnOpen && s.Turn.state.Began.IsZero()
}

// needsTurnStart reports whether the caller asked when the turn began, and that is not known.
func (s *Tail) needsTurnStart() bool { return s.NeedTurnStart && s.Turn.state.Began.IsZero() }

// Branch returns the git branch. In a worktree that Claude Code made, records name the branch that the worktree was made
// from (2.1.197), so the worktree's branch in the metadata wins. A session that has left its worktree (SEEN 2.1.329,
// 2.1.330) is on the branch that its records name.
func (s *Tail) Branch() string {
	if b := s.Metadata.Get(WorktreeBranch); b != "" {
		return b
	}
	inWorktree := strings.Contains(s.Last.Cwd, "/.claude/worktrees/")
	if s.Last.GitBranch == "HEAD" || inWorktree {
		return ""
	}
	return s.Last.GitBranch
}
