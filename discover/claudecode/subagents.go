package claudecode

import (
	"bytes"
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
	"sync"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// Sub-agents have transcripts of their own: <id>/subagents/agent-<hex>.jsonl. Up to 2.0.x they are agent-<hex>.jsonl beside
// the sessions' transcripts, and their records name the parent. Those of a workflow are in a folder below, see [workflowRun].
const (
	subagentsName = "subagents"
	agentPrefix   = "agent-"
	metaSuffix    = ".meta.json"
)

// subagentMeta is the metadata file of a sub-agent, agent-<hex>.meta.json (2.1.197).
type subagentMeta struct {
	AgentType   string `json:"agentType"`
	Description string `json:"description"`
	ToolUseID   string `json:"toolUseId"` // the call in the parent that started it
	// RequestShape says how the sub-agent was started, "background" or "foreground" (2.1.329); "" in versions that do not
	// record its end.
	RequestShape string `json:"requestShape"`
	Finished     bool   `json:"finished"`
	Stopped      bool   `json:"stoppedByUser"`
	// TaskKind is [taskInProcess] for a teammate. Then Name and TeamName are the names of both.
	TaskKind string `json:"taskKind"`
	Name     string `json:"name"`
	TeamName string `json:"teamName"`
	// WorktreeBranch is the branch of the worktree that was made for the sub-agent. Its records name the session's branch
	// (2.1.197).
	WorktreeBranch string `json:"worktreeBranch"`
}

// isTeammate reports whether the sub-agent is a teammate. Its file does not record its end.
func (s subagentMeta) isTeammate() bool {
	return s.TaskKind == taskInProcess && s.Name != "" && s.TeamName != ""
}

// mayBeOpen reports whether the file would record the sub-agent's end, and does not.
func (s subagentMeta) mayBeOpen() bool { return s.RequestShape != "" && !s.Finished && !s.Stopped }

// readSubagentMeta returns the metadata of a sub-agent, which may be missing. If it is, and continued reports that the
// conversation began in another file, it may be beside that one. The error is a warning.
func readSubagentMeta(ctx context.Context, transcript string, continued func() bool) (subagentMeta, error) {
	metadata, err := readMetaFile(ctx, transcript)
	if storage.IsNotExist(err) && continued() {
		for _, path := range otherTranscripts(ctx, transcript) {
			if metadata, err = readMetaFile(ctx, path); !storage.IsNotExist(err) {
				transcript = path
				break
			}
		}
	}
	return metadata, warning(metaPath(transcript), err)
}

func metaPath(transcript string) string {
	return strings.TrimSuffix(transcript, transcriptSuffix) + metaSuffix
}

func readMetaFile(ctx context.Context, transcript string) (metadata subagentMeta, err error) {
	err = readJSON(ctx, metaPath(transcript), &metadata)
	return metadata, err
}

// jsonLimit bounds a small JSON file, in bytes; real ones have 100 to 1,000, that of a team 300 for each teammate.
const jsonLimit = 1 << 20

// readJSON reads a small JSON file.
func readJSON(ctx context.Context, path string, into any) error {
	raw, err := storage.ReadComplete(ctx, path, jsonLimit, json.Valid)
	if err != nil {
		return err
	}
	return unmarshal(bytes.TrimPrefix(raw, []byte("\uFEFF")), into)
}

// unmarshal parses JSON. A value of an unexpected type is left out; the others count.
func unmarshal(raw []byte, into any) error {
	err := json.Unmarshal(raw, into)
	if _, odd := errors.AsType[*json.UnmarshalTypeError](err); err == nil || odd {
		return nil
	}
	return errors.New("damaged")
}

// describeSubagent adds the metadata of a sub-agent to its record. The error is a warning.
func describeSubagent(ctx context.Context, r *discover.Record, continued bool) error {
	if continued { // the file that it began in may be gone, or be all that is readable
		for _, path := range otherTranscripts(ctx, r.Path) {
			if head, err := readHead(ctx, path); err == nil && head.HasMessage && !head.Continued {
				r.Prompt, r.Created = head.Prompt(), head.Created
				break
			}
		}
	}
	metadata, err := readSubagentMeta(ctx, r.Path, func() bool { return continued })
	if r.Title = cmp.Or(r.Title, metadata.Description); metadata.isTeammate() {
		r.Sub, r.Team, r.Title = true, metadata.TeamName, metadata.Name
	}
	r.Branch = cmp.Or(metadata.WorktreeBranch, r.Branch)
	r.SetMeta("agentType", metadata.AgentType)
	r.SetMeta("workflow", workflowRun(r.Path))
	return err
}

// subagentClaims returns claims for the sub-agents that a session runs in its process: those whose call has no result yet,
// background ones, whose call gets its result at once, that have not ended, and teammates. Errors are warnings, joined.
func (p *process) subagentClaims(ctx context.Context, parent discover.Claim) (claims []discover.Claim, err error) {
	if parent.Path == "" {
		return nil, nil
	}
	subagents, err := p.startedSubagents(ctx, parent.Path)
	if len(subagents) == 0 {
		return nil, err
	}
	calls := pendingSubagentCalls(ctx, parent)
	team := sync.OnceValue(func() *team { return p.readTeam(ctx) })
	for _, subagent := range subagents {
		c := p.newClaim()
		c.Session, _ = idOfFile(filepath.Base(subagent.path))
		c.Path, c.Title, c.Strength = subagent.path, "", discover.Exact
		c.Parent, c.Team = "", "" // those of its session
		c.Dir = ""                // its transcript has its own, which may be a worktree made for it
		c.Turn = &discover.Turn{State: discover.TurnOpen}
		switch {
		case subagent.isTeammate() && team() != nil:
			if newestTeammate(subagents, subagent) != subagent.path || !team().hasInProcess(subagent.Name) {
				continue // it was sent away
			}
			c.Kind, c.Detail = teamKind, fmt.Sprintf("%s is a teammate in the team %s of session %s", subagent.Name, subagent.TeamName, parent.Session)
			if !p.hasOpenTurn(ctx, subagent.path) {
				c.Turn = nil // it waits for what the others have to say
			}
		case calls[subagent.ToolUseID]:
			c.Kind, c.Detail = "tool-call", fmt.Sprintf("session %s waits for its call %s", parent.Session, subagent.ToolUseID)
		case mayBeActive(subagent.path, subagent.subagentMeta) && p.hasOpenTurn(ctx, subagent.path):
			c.Kind, c.Detail = "sub-agent", fmt.Sprintf("a sub-agent of session %s that has not ended", parent.Session)
		default:
			continue
		}
		claims = append(claims, c)
	}
	return claims, err
}

type storedSubagent struct {
	path string
	subagentMeta
}

// startedSubagents returns the sub-agents of the session with this transcript that the process may run: those written since
// it started. Older ones, of which a session may have thousands, are not opened. Errors are warnings, joined: a sub-agent
// whose metadata cannot be read counts without it.
func (p *process) startedSubagents(ctx context.Context, transcript string) (found []storedSubagent, err error) {
	stored := map[string]bool{}                       // by transcript; false: there is only metadata
	files, _, _ := listSubagentFiles(ctx, transcript) // unreadable folders are skipped
	for _, path := range files {
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
			if subagent := carriedOver(ctx, path); subagent.path != "" && p.StartedBefore(modTime(subagent.path)) {
				found = append(found, subagent)
			}
		} else if p.StartedBefore(modTime(path)) {
			metadata, wrong := readSubagentMeta(ctx, path, func() bool { head, err := readHead(ctx, path); return err == nil && head.Continued })
			err, found = errors.Join(err, wrong), append(found, storedSubagent{path, metadata})
		}
	}
	return found, err
}

// pendingSubagentCalls returns the calls of sub-agents that the session waits for.
func pendingSubagentCalls(ctx context.Context, parent discover.Claim) map[string]bool {
	if parent.Turn != nil && parent.Turn.State == discover.TurnDone {
		return nil
	}
	tail, err := readTail(ctx, parent.Path)
	if err != nil {
		return nil // Read reports it
	}
	calls := map[string]bool{}
	for _, b := range tail.Turn.Pending {
		if isSubagentTool(b.Name) {
			calls[b.ID] = true
		}
	}
	return calls
}

// openTurn returns the newest turn of a sub-agent, if it is open and was written since the process started.
func (p *process) openTurn(ctx context.Context, path string) (turn *turnReader, ok bool) {
	tail, err := readTail(ctx, path)
	return &tail.Turn, err == nil && tail.Turn.Result(tail.Whole).State == discover.TurnOpen && p.StartedBefore(tail.Updated)
}

func (p *process) hasOpenTurn(ctx context.Context, path string) bool {
	_, ok := p.openTurn(ctx, path)
	return ok
}

// subagentDir returns the folder of the sub-agents of the session with this transcript. Claude Code itself reads it and the
// folders below, at any depth (2.1.329). Those of a workflow are in workflows/<run> (2.1.197).
func subagentDir(transcript string) string {
	return filepath.Join(strings.TrimSuffix(transcript, transcriptSuffix), subagentsName)
}

// hasFolder reports whether there is a folder beside a transcript. Most sessions have none, and so neither sub-agents nor a file of the title.
func hasFolder(ctx context.Context, transcript string) bool {
	_, err := storage.Stat(ctx, strings.TrimSuffix(transcript, transcriptSuffix))
	return !storage.IsNotExist(err)
}

// enclosingSubagentDir returns the sub-agents' folder of a session that a path is, or is in; "" if it is in none.
func enclosingSubagentDir(path string) string {
	end := strings.LastIndex(path+"/", "/"+subagentsName+"/")
	if end < 0 || !isUUID(filepath.Base(path[:end])) {
		return ""
	}
	return path[:end] + "/" + subagentsName
}

// parentOf returns the session whose sub-agents' folder a transcript is in, "" if it is in none.
func parentOf(transcript string) string {
	if !isSubagent(filepath.Base(transcript)) {
		return ""
	}
	if top := enclosingSubagentDir(transcript); top != "" {
		return filepath.Base(filepath.Dir(top))
	}
	return ""
}

// listSubagentFiles lists what is stored of the sub-agents of the session with this transcript: the files in and below their folder, and
// all these folders. Folders that are missing or cannot be read are empty; the error is a warning about one of these.
func listSubagentFiles(ctx context.Context, transcript string) (files, folders []string, err error) {
	folders = []string{subagentDir(transcript)}
	for i := 0; i < len(folders); i++ {
		entries, wrong := storage.ReadDir(ctx, folders[i])
		err = cmp.Or(err, warning(folders[i], wrong))
		for _, n := range entries {
			if path := filepath.Join(folders[i], n.Name()); n.IsDir() {
				folders = append(folders, path)
			} else {
				files = append(files, path)
			}
		}
	}
	return files, folders, err
}

func isSubagentTranscript(name string) bool {
	return isSubagent(name) && strings.HasSuffix(name, transcriptSuffix)
}

// A background sub-agent outlives the session that started it. When its process changes to another session (/clear,
// /resume), the rest of its conversation is stored in that session's folder, in a file of the same name that begins in the
// middle. /clear puts a copy of the metadata there at once, /resume does not (SEEN 2.1.329).

// otherTranscripts returns the other files of a sub-agent's conversation, newest first; none if it is beside the sessions'
// transcripts.
func otherTranscripts(ctx context.Context, transcript string) (paths []string) {
	top := enclosingSubagentDir(transcript)
	if top == "" {
		return nil
	}
	sessionDir := filepath.Dir(top)
	project, below := filepath.Dir(sessionDir), strings.TrimPrefix(transcript, sessionDir)
	folders, _ := storage.ReadDir(ctx, project)
	for _, n := range folders {
		path := filepath.Join(project, n.Name(), below)
		if n.IsDir() && isUUID(n.Name()) && n.Name() != filepath.Base(sessionDir) && isFile(ctx, path) {
			paths = append(paths, path)
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return cmp.Or(modTime(b).Compare(modTime(a)), cmp.Compare(a, b)) })
	return paths
}

// newestTranscript returns the file that a sub-agent's conversation continues in; for any other session, its only one.
func newestTranscript(ctx context.Context, transcript string) string {
	if !isSubagent(filepath.Base(transcript)) {
		return transcript
	}
	if others := otherTranscripts(ctx, transcript); len(others) > 0 && modTime(others[0]).After(modTime(transcript)) {
		return others[0]
	}
	return transcript
}

// carriedOver returns the newest transcript of a sub-agent that has only metadata in the folder of its process's session
// and has not ended.
func carriedOver(ctx context.Context, transcript string) storedSubagent {
	if metadata, _ := readMetaFile(ctx, transcript); metadata.mayBeOpen() {
		if others := otherTranscripts(ctx, transcript); len(others) > 0 {
			return storedSubagent{others[0], metadata}
		}
	}
	return storedSubagent{}
}

// modTime returns when a file was written last; zero if it cannot be read.
func modTime(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// A workflow is a script that starts sub-agents in the background: <id>/subagents/workflows/<run>/agent-<hex>.jsonl. Their
// metadata does not record their end. When the run ends, for whatever reason, <id>/workflows/<run>.json is written (SEEN
// 2.1.197, 2.1.329). A run may be resumed.
const workflowsName = "workflows"

// workflowRun returns the workflow run that a sub-agent works for, "" if there is none.
func workflowRun(transcript string) string {
	run := filepath.Dir(transcript)
	above := filepath.Dir(run)
	if filepath.Base(above) != workflowsName || filepath.Base(filepath.Dir(above)) != subagentsName {
		return ""
	}
	return filepath.Base(run)
}

// mayBeActive reports whether a sub-agent may still be working, by its metadata or its workflow run.
func mayBeActive(transcript string, metadata subagentMeta) bool {
	if run := workflowRun(transcript); run != "" {
		session := filepath.Join(filepath.Dir(transcript), "..", "..", "..")
		ended := modTime(filepath.Join(session, workflowsName, run+".json"))
		return !ended.After(modTime(transcript))
	}
	return metadata.mayBeOpen()
}
