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
	Metadata      metadata
	NeedTurnStart bool // read back to the beginning of the turn, however far that is
	TurnOnly      bool // metadata is read otherwise
	EnvelopeOnly  bool // neither the turn nor the model is asked for
	Whole         bool // the whole file was read
	damage        storage.Damage
}

// Read reads backwards as far as necessary.
func (t *tailReader) Read(f *storage.File) (err error) {
	reach := int64(turnReach)
	if t.NeedTurnStart {
		reach = f.Size()
	}
	t.Whole, err = f.ParseBackward(reach, parser(func(l storage.Line, r *rawLine) bool {
		behind := f.Size() - l.Offset
		switch {
		case r != nil:
			t.add(r, behind <= metadataReach)
			t.Turn.afterFirst = t.Turn.afterFirst || r.isFirst()
		case l.Rest && !t.Turn.complete():
			t.damage.Add(l)
			t.Turn.addDamaged()
		}
		if t.EnvelopeOnly {
			return t.Last.Cwd == "" && behind < turnReach
		}
		near := behind < metadataReach && (!t.TurnOnly || t.Turn.state.Began.IsZero())
		return near || t.needsTurnStart() || (!t.Turn.complete() || t.Model == "") && behind < turnReach
	}))
	return err
}

// add takes the next record. near: it is so near to the end that metadata counts.
func (t *tailReader) add(line *rawLine, near bool) {
	if near && line.isMetadata() {
		t.Metadata.add(line, false)
	}
	if t.Turn.complete() && !t.mayMatter(line) {
		return
	}
	if at := line.time(); at.After(t.Updated) { // records are not quite in the order of time
		t.Updated = at
	}
	if line.Type == "" || line.Type == "attachment" || line.isMetadata() {
		return
	}
	if t.Last.Cwd == "" {
		t.Last = line.envelope()
	}
	if line.IsSidechain != t.Sidechain {
		return
	}
	if t.Model == "" && line.Type == "assistant" && !line.synthetic() {
		t.Model = line.Model.Text(0)
	}
	if !t.Turn.complete() || line.Type == "user" {
		t.Turn.add(line)
	}
}

// mayMatter reports whether a record may tell the model, or when the turn began, where that is not known yet. Of all records,
// prompts have a permission mode (SEEN 2.1.75–2.1.330; slash commands may have none).
func (t *tailReader) mayMatter(line *rawLine) bool {
	return t.Model == "" || t.needsTurnStart() || t.Turn.state.Began.IsZero() && line.PermissionMode != ""
}

// needsTurnStart reports whether the caller asked when the turn began, and that is not known.
func (t *tailReader) needsTurnStart() bool { return t.NeedTurnStart && t.Turn.state.Began.IsZero() }

// Branch returns the git branch. In a worktree that Claude Code made, records name the branch that the worktree was made
// from (2.1.197), so the worktree's branch in the metadata wins. A session that has left its worktree (SEEN 2.1.329,
// 2.1.330) is on the branch that its records name.
func (t *tailReader) Branch() string {
	if b := t.Metadata[worktreeBranch]; b != "" {
		return b
	}
	inWorktree := strings.Contains(t.Last.Cwd, "/.claude/worktrees/")
	if t.Last.GitBranch == "HEAD" || inWorktree {
		return ""
	}
	return t.Last.GitBranch
}

// metadata is what records other than those of the conversation say of a session, by their type. Claude Code appends them anew now and
// then: the newest of each type counts.
type metadata map[string]string

// The types of these records.
const (
	customTitle    = "custom-title" // the title that the user has given; an empty one removes it
	aiTitle        = "ai-title"
	relocatedDir   = "relocated"      // the directory that the session was moved to
	worktreeBranch = "worktree-state" // the branch of the worktree that Claude Code made for the session; "" once the session has left it
	continuedIn    = "continued-in"   // the background session that this session continues as
	costUSD        = "cost-state"     // in USD
)

// Title returns the user's title, else the agent's.
func (m metadata) Title() string { return cmp.Or(m[customTitle], m[aiTitle]) }

// CostUSD returns the cost; nil if none is recorded.
func (m metadata) CostUSD() *float64 {
	usd, err := strconv.ParseFloat(m[costUSD], 64)
	if err != nil {
		return nil
	}
	return &usd
}

// add takes a record. newest says that it is newer than those taken before; else it only fills gaps.
func (m *metadata) add(line *rawLine, newest bool) {
	if _, known := (*m)[line.Type]; known && !newest {
		return
	}
	var text string
	var known bool
	switch line.Type {
	case customTitle:
		text, known = line.Get("customTitle").Text(0), true
	case aiTitle:
		text, known = line.Get("aiTitle").Text(0), true
	case relocatedDir:
		text = line.Get("relocatedCwd").Text(0)
	case worktreeBranch:
		worktree := line.Get("worktreeSession")
		text, known = worktree.Object().Get("worktreeBranch").Text(0), worktree != nil
	case continuedIn:
		text = line.Get("continuedInSessionId").Text(0)
	case costUSD:
		raw := string(line.Get("totalCostUSD").Raw())
		if _, err := strconv.ParseFloat(raw, 64); err == nil {
			text = raw
		}
	}
	if text = strings.TrimSpace(text); text == "" && !known {
		return
	}
	if *m == nil {
		*m = metadata{}
	}
	(*m)[line.Type] = text
}

// printEntrypoint is the entrypoint of print mode (-p).
const printEntrypoint = "sdk-cli"
