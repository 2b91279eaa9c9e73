package claudecode

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native"
)

// Sub-agents have transcripts of their own: <id>/subagents/agent-<hex>.jsonl, up to 2.0.x agent-<hex>.jsonl beside
// the transcripts (their parent's id is inside).
const (
	subagents   = "subagents"
	agentPrefix = "agent-"
)

func isSubagent(id string) bool { return strings.HasPrefix(id, agentPrefix) }

// about is the note beside a sub-agent's transcript, agent-<hex>.meta.json (2.1.197).
type about struct {
	AgentType   string `json:"agentType"`
	Description string `json:"description"`
	ToolUseID   string `json:"toolUseId"` // the call in the parent that started it
}

// aboutLimit bounds that note, in bytes; real ones have about 100.
const aboutLimit = 64 << 10

// readAbout returns what is known; the note is an extra.
func readAbout(transcript string) (a about) {
	raw, err := native.ReadFile(strings.TrimSuffix(transcript, suffix)+".meta.json", aboutLimit)
	if err != nil || json.Unmarshal(raw, &a) != nil {
		return about{}
	}
	return a
}

func describeSubagent(r *discover.Record) {
	a := readAbout(r.Path)
	r.Title = cmp.Or(r.Title, a.Description)
	r.SetMeta("agentType", a.AgentType)
}

// children claims the sub-agents that a session runs in its own process: those whose call has no answer yet.
func (x *process) children(parent discover.Claim) (claims []discover.Claim) {
	if parent.Path == "" || parent.Turn != nil && parent.Turn.State == discover.TurnDone {
		return nil
	}
	tail, err := readTail(parent.Path)
	if err != nil {
		return nil // the record's reader says so
	}
	calls := map[string]bool{}
	for _, b := range tail.turn.pending {
		if b.Name == "Agent" || b.Name == "Task" { // its older name
			calls[b.ID] = true
		}
	}
	if len(calls) == 0 {
		return nil
	}
	dir := filepath.Join(strings.TrimSuffix(parent.Path, suffix), subagents)
	files, _ := names(dir)
	for _, n := range files {
		path := filepath.Join(dir, n.Name())
		id, _, ok := sessionOf(path)
		if call := readAbout(path).ToolUseID; ok && calls[call] {
			c := x.claim()
			c.Session, c.Path, c.Title, c.Strength, c.Kind = id, path, "", discover.Exact, "tool-call"
			c.Detail = fmt.Sprintf("session %s waits for its call %s", parent.Session, call)
			c.Turn = &discover.Turn{State: discover.TurnOpen}
			claims = append(claims, c)
		}
	}
	return claims
}
