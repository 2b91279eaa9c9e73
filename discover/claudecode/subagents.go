package claudecode

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/claudecode/transcript"
	"agentctl/discover/native/fsread"
)

// Sub-agents have transcripts of their own: <id>/subagents/agent-<hex>.jsonl, up to 2.0.x agent-<hex>.jsonl beside
// the transcripts (their parent's id is inside). Those of a workflow are in a folder further down, see workflow.go.
const (
	subagentsName = "subagents"
	agentPrefix   = "agent-"
	metaSuffix    = ".meta.json"
)

// subagentMeta is the note beside a sub-agent's transcript, agent-<hex>.meta.json (2.1.197).
type subagentMeta struct {
	AgentType   string `json:"agentType"`
	Description string `json:"description"`
	ToolUseID   string `json:"toolUseId"` // the call in the parent that started it
	// RequestShape says how it was started, "background" or "foreground" (2.1.329; "" in versions whose notes do not say how
	// it ends).
	RequestShape string `json:"requestShape"`
	Finished     bool   `json:"finished"`
	Stopped      bool   `json:"stoppedByUser"`
	// WorktreeBranch is that of the worktree that was made for it; its records name the session's (2.1.197).
	WorktreeBranch string `json:"worktreeBranch"`
}

// mayBeOpen reports whether the note would say so if the sub-agent had ended.
func (a subagentMeta) mayBeOpen() bool { return a.RequestShape != "" && !a.Finished && !a.Stopped }

// subagentMetaLimit bounds that note, in bytes; real ones have about 100.
const subagentMetaLimit = 64 << 10

// readSubagentMeta returns what is known; the note is an extra, which may be missing. Where the conversation began elsewhere, which
// is asked only if there is none, the note may be there. The error is a warning.
func readSubagentMeta(ctx context.Context, transcript string, continued func() bool) (subagentMeta, error) {
	a, err := readMetaFile(ctx, transcript)
	if fsread.IsNotExist(err) && continued() {
		for _, path := range otherTranscripts(ctx, transcript) {
			if a, err = readMetaFile(ctx, path); !fsread.IsNotExist(err) {
				transcript = path
				break
			}
		}
	}
	if fsread.IsNotExist(err) {
		return subagentMeta{}, nil
	}
	return a, asWarning(metaPath(transcript), err)
}

// metaPath is where the note on a sub-agent with this transcript is.
func metaPath(transcript string) string {
	return strings.TrimSuffix(transcript, transcriptSuffix) + metaSuffix
}

func readMetaFile(ctx context.Context, transcript string) (a subagentMeta, err error) {
	raw, err := fsread.ReadComplete(ctx, metaPath(transcript), subagentMetaLimit, json.Valid)
	if err == nil {
		err = unmarshal(raw, &a)
	}
	return a, err
}

// unmarshal reads a small JSON file. A value of an unexpected type is left out; the others count.
func unmarshal(raw []byte, into any) error {
	err := json.Unmarshal(raw, into)
	if _, odd := errors.AsType[*json.UnmarshalTypeError](err); err == nil || odd {
		return nil
	}
	return errors.New("damaged")
}

// describeSubagent adds what stands in the note on a sub-agent. The error is a warning.
func describeSubagent(ctx context.Context, r *discover.Record, continued bool) error {
	if continued { // where it began may be removed, or be all that can be told of
		for _, path := range otherTranscripts(ctx, r.Path) {
			if head, err := readHead(ctx, path); err == nil && head.HasMessage && !head.Continued {
				r.Prompt, r.Created = head.Prompt(), head.Created
				break
			}
		}
	}
	a, err := readSubagentMeta(ctx, r.Path, func() bool { return continued })
	r.Title = cmp.Or(r.Title, a.Description)
	r.Branch = cmp.Or(a.WorktreeBranch, r.Branch)
	r.SetMeta("agentType", a.AgentType)
	r.SetMeta("workflow", workflowRun(r.Path))
	return err
}

// subagentClaims claims the sub-agents that a session runs in its own process: those whose call has no answer yet, and those
// that were started in the background, whose call is answered at once, and have not ended. Errors are warnings, joined.
func (x *process) subagentClaims(ctx context.Context, parent discover.Claim) (claims []discover.Claim, err error) {
	if parent.Path == "" {
		return nil, nil
	}
	begun, err := x.startedSubagents(ctx, parent.Path)
	if len(begun) == 0 {
		return nil, err
	}
	calls := pendingSubagentCalls(ctx, parent)
	for _, b := range begun {
		c := x.newClaim()
		c.Session, _, _ = sessionOfPath(b.path)
		c.Path, c.Title, c.Strength = b.path, "", discover.Exact
		c.Dir = "" // its own, which may be a worktree that was made for it, stands in its transcript
		c.Turn = &discover.Turn{State: discover.TurnOpen}
		switch {
		case calls[b.ToolUseID]:
			c.Kind, c.Detail = "tool-call", fmt.Sprintf("session %s waits for its call %s", parent.Session, b.ToolUseID)
		case mayBeActive(b.path, b.subagentMeta) && x.hasOpenTurn(ctx, b.path):
			c.Kind, c.Detail = "sub-agent", fmt.Sprintf("a sub-agent of session %s that has not ended", parent.Session)
		default:
			continue
		}
		claims = append(claims, c)
	}
	return claims, err
}

// storedSubagent is a sub-agent's transcript with the note beside it.
type storedSubagent struct {
	path string
	subagentMeta
}

// startedSubagents are the sub-agents of the session with this transcript that the process may run: those written since it began. A session
// may have had thousands before: nothing of them is opened. Errors are warnings, joined: one whose note cannot be read counts
// without it.
func (x *process) startedSubagents(ctx context.Context, transcript string) (found []storedSubagent, err error) {
	stored := map[string]bool{}                                     // by transcript; false: there is only the note
	for _, path := range listSubagentFiles(ctx, transcript).files { // what cannot be read tells nothing
		id, isNote := strings.CutSuffix(path, metaSuffix)
		switch {
		case isNote:
			if _, known := stored[id+transcriptSuffix]; !known {
				stored[id+transcriptSuffix] = false
			}
		case isSubagentTranscript(filepath.Base(path)):
			stored[path] = true
		}
	}
	for _, path := range slices.Sorted(maps.Keys(stored)) {
		if !stored[path] {
			if b := carriedOver(ctx, path); b.path != "" && x.wroteTo(b.path) {
				found = append(found, b)
			}
		} else if x.wroteTo(path) {
			a, wrong := readSubagentMeta(ctx, path, func() bool { head, err := readHead(ctx, path); return err == nil && head.Continued })
			err, found = errors.Join(err, wrong), append(found, storedSubagent{path, a})
		}
	}
	return found, err
}

// pendingSubagentCalls are the calls for sub-agents that the session waits for.
func pendingSubagentCalls(ctx context.Context, parent discover.Claim) map[string]bool {
	if parent.Turn != nil && parent.Turn.State == discover.TurnDone {
		return nil
	}
	tail, err := readTail(ctx, parent.Path)
	if err != nil {
		return nil // the record's reader says so
	}
	calls := map[string]bool{}
	for _, b := range tail.Turn.Pending {
		if transcript.IsSubagentTool(b.Name) {
			calls[b.ID] = true
		}
	}
	return calls
}

// wroteTo reports whether the file was written since the process began.
func (x *process) wroteTo(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && x.StartedBefore(info.ModTime())
}

// hasOpenTurn reports whether a sub-agent's turn is open, and went on since the process began.
func (x *process) hasOpenTurn(ctx context.Context, path string) bool {
	tail, err := readTail(ctx, path)
	return err == nil && tail.Turn.Result(tail.Whole).State == discover.TurnOpen && x.StartedBefore(tail.Updated)
}
