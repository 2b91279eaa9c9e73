package claudecode

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"path/filepath"
	"strings"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// Read yields the records of the transcripts. It reads a transcript from the beginning until the first prompt is known,
// from the end until the newest turn is, and as far back as Claude Code itself looks for metadata. It reads a transcript
// whole only for token totals and for ReadOptions.Full. A transcript without a message is no session: Claude Code leaves
// such files behind at resumes.
//
// Meta keys:
//
//   - projectDir: the project folder's name
//   - entrypoint: as Claude Code calls it, if Source is another word
//   - jobId: of a background session
//   - agentType: of a sub-agent
//   - workflow: the run that a sub-agent works for
//   - continuedIn: the background session that the session continues as
//   - costWithOrigin: of a fork, in USD: the agent's figure, which includes the cost of the session that the fork was made of
//   - turns (Full): the number of prompts
//   - permissionMode (Full): of the newest prompt: default, acceptEdits, plan, auto, dontAsk, bypassPermissions
//   - projectPath (Full): the directory that the project folder is named after, if the session has moved to another since
func (Adapter) Read(ctx context.Context, entries []discover.Entry, options discover.ReadOptions) iter.Seq2[discover.Record, error] {
	return func(yield func(discover.Record, error) bool) {
		for u, err := range (reader{ReadOptions: options}).read(ctx, entries) {
			if !yield(u.Record, err) {
				return
			}
		}
	}
}

// The Meta keys that resume and stop need.
const (
	projectMeta = "projectDir"
	dirMeta     = "projectPath"
	modeMeta    = "permissionMode"
	jobMeta     = "jobId"
)

var errNoRecords = errors.New("no transcript, or a damaged one: no message can be found in it")

// reader is one call of Read or ReadUsage.
type reader struct {
	discover.ReadOptions
	usageOnly bool // the newest turn and the model are not needed
}

// read yields what it reads of the entries. Of several sessions, each answer is one session's, unless it is that of a sub-agent as well.
func (r reader) read(ctx context.Context, entries []discover.Entry) iter.Seq2[*sessionUsage, error] {
	return func(yield func(*sessionUsage, error) bool) {
		counted := map[string]bool{} // the sub-agents whose tokens are in their sessions' as well
		for _, e := range entries {
			counted[e.Path] = true
		}
		for _, e := range withoutCounted(entries) {
			delete(counted, e.Path)
		}
		var all []*sessionUsage
		for u, err := range storage.ReadParallel(ctx, entries, r.readSession) {
			switch {
			case err != nil && !yield(&sessionUsage{}, err):
				return
			case u.ID == "":
			case len(u.Usage) > 0 && !counted[u.Path]:
				all = append(all, u)
			case !yield(u, nil):
				return
			}
		}
		dropCopied(all)
		for _, u := range all {
			if !yield(u, nil) {
				return
			}
		}
	}
}

// readSession reads one session. There is neither a record nor an error if the file holds none, or is gone, and both if a part could not be
// read. Errors are warnings.
func (r reader) readSession(ctx context.Context, e discover.Entry, u *sessionUsage) (ok bool, err error) {
	f, err := storage.Open(ctx, e.Path)
	if err != nil {
		return false, warning(e.Path, err)
	}
	defer f.Close()
	var head headReader
	whole := r.Tokens || r.Full || r.Quotas
	tail := tailReader{Sidechain: isSubagent(e.ID), NeedTurnStart: r.TurnStart, TurnOnly: whole, EnvelopeOnly: r.usageOnly}
	if err = head.Read(f); err == nil {
		err = tail.Read(f)
	}
	if err == nil && !head.HasMessage && !head.Readable(f) {
		err = errNoRecords
	}
	if err != nil || !head.HasMessage || head.Sidechain != tail.Sidechain {
		return false, warning(e.Path, err)
	}
	if whole {
		err = r.readWhole(u, e, f, &head, &tail)
	} else {
		err = cmp.Or(fill(&u.Record, e, f, &head, &tail), tail.damage.In(f))
	}
	if u.Source == "bg" {
		err = cmp.Or(err, describeJob(f.Context(), &u.Record))
	}
	u.TruncateTexts()
	return true, warning(e.Path, err)
}

func withFile(ctx context.Context, path string, read func(*storage.File) error) error {
	f, err := storage.Open(ctx, path)
	if err != nil {
		return err
	}
	defer f.Close()
	return read(f)
}

func readHead(ctx context.Context, path string) (head headReader, err error) {
	err = withFile(ctx, path, head.Read)
	return head, err
}

// readTail reads the end of the transcript of a session or sub-agent.
func readTail(ctx context.Context, path string) (tail tailReader, err error) {
	tail.Sidechain = isSubagent(filepath.Base(path))
	err = withFile(ctx, path, tail.Read)
	return tail, err
}

// fill makes the record from the head and the tail. Its error is a warning about files beside the transcript.
func fill(r *discover.Record, e discover.Entry, f *storage.File, head *headReader, tail *tailReader) error {
	known := metadata{}
	maps.Copy(known, head.Metadata)
	maps.Copy(known, tail.Metadata)
	tail.Metadata = known
	var unreadable error
	if !tail.Sidechain && hasFolder(f.Context(), e.Path) {
		unreadable = readTitle(f.Context(), e.Path, known)
	}
	*r = discover.Record{
		Agent: agentName, ID: e.ID, Path: e.Path, Home: e.Home, Parent: e.Parent,
		Dir:     cmp.Or(known[relocatedDir], tail.Last.Cwd, head.First.Cwd),
		Title:   known.Title(),
		Prompt:  head.Prompt(),
		Model:   tail.Model,
		Branch:  tail.Branch(),
		Version: cmp.Or(tail.Last.Version, head.First.Version),
		Created: head.Created, Updated: tail.Updated, ForkedFrom: head.First.ForkedFrom,
		Turn: tail.Turn.Result(tail.Whole), Cost: known.CostUSD(),
	}
	if r.Updated.IsZero() {
		r.Updated = f.ModTime()
	}
	entrypoint := cmp.Or(tail.Last.Entrypoint, head.First.Entrypoint)
	if r.Source = sourceOf(entrypoint); r.Source == entrypoint {
		entrypoint = ""
	}
	if tail.Last.Background { // also after its job was removed (claude rm)
		r.Source = "bg"
	}
	r.Meta = discover.Facts{"entrypoint": entrypoint, projectMeta: projectOf(e), "continuedIn": known[continuedIn]}.WithoutEmpty()
	if created, ok := head.ForkCreated(); ok {
		r.Created = created
		moveSharedCost(r)
	}
	if last := tail.Last; last.Team != "" && last.Teammate != "" {
		r.Team, r.Title = last.Team, cmp.Or(known[customTitle], last.Teammate)
	}
	if tail.Sidechain {
		r.Parent = cmp.Or(r.Parent, head.First.Parent)
		return describeSubagent(f.Context(), r, head.Continued)
	}
	return unreadable
}

// readTitle reads the title that the user gave a session, from the file in which Claude Code keeps it besides (READ 2.1.332). The error is
// a warning.
func readTitle(ctx context.Context, transcript string, to metadata) error {
	var file struct{ CustomTitle string }
	path := filepath.Join(strings.TrimSuffix(transcript, transcriptSuffix), "custom-title.json")
	if err := warning(path, readJSON(ctx, path, &file)); err != nil {
		return err
	}
	if title := strings.TrimSpace(file.CustomTitle); title != "" {
		to[customTitle] = title
	}
	return nil
}

// projectOf returns the name of the project folder that an entry is in; "" if it is in none.
func projectOf(e discover.Entry) string {
	rest, ok := strings.CutPrefix(e.Path, projectsDir(e.Home)+"/")
	folder, _, inside := strings.Cut(rest, "/")
	if !ok || !inside {
		return ""
	}
	return folder
}

// readWhole fills the record of a transcript that is read whole. Tokens stay unknown where a part cannot be read.
func (r reader) readWhole(u *sessionUsage, e discover.Entry, f *storage.File, head *headReader, tail *tailReader) error {
	t := totalsReader{Sidechain: tail.Sidechain, Full: r.Full}
	if (r.Full || r.Quotas) && !t.Sidechain {
		t.Project = projectOf(e)
	}
	err := t.Read(f)
	tail.Metadata = t.Metadata
	unknown := fill(&u.Record, e, f, head, tail)
	if err != nil {
		return err
	}
	fillTotals(&u.Record, &t)
	if !t.Sidechain && hasFolder(f.Context(), e.Path) {
		if err := readSubagents(f.Context(), &t, e.Path); err != nil {
			return err
		}
	}
	if err := t.fillUsage(u); err != nil {
		return err
	}
	return errors.Join(append(t.lost, warning(e.Path, unknown))...)
}

// fillTotals adds what only a whole transcript says, except for the tokens.
func fillTotals(r *discover.Record, t *totalsReader) {
	if origin, ok := t.Fork(); ok {
		moveSharedCost(r)
		r.ForkedFrom = cmp.Or(r.ForkedFrom, origin)
	}
	if t.Quota != nil {
		r.Quotas = []discover.Quota{*t.Quota}
	}
	if !t.Full {
		return
	}
	r.SetMeta("turns", t.Turns)
	r.SetMeta(modeMeta, t.PermissionMode)
	if t.Dir != r.Dir {
		r.SetMeta(dirMeta, t.Dir)
	}
}

// moveSharedCost moves the cost of a fork to the Meta key costWithOrigin: the agent's figure includes the cost of the session
// that the fork was made of (2.1.329; not of a /branch).
func moveSharedCost(r *discover.Record) {
	if r.Cost != nil {
		r.SetMeta("costWithOrigin", *r.Cost)
		r.Cost = nil
	}
}

// readSubagents adds the transcripts of the sub-agents of the session with this transcript.
func readSubagents(ctx context.Context, t *totalsReader, path string) error {
	files, _, err := listSubagentFiles(ctx, path)
	if err != nil {
		return err
	}
	for _, path := range files {
		if isSubagentTranscript(filepath.Base(path)) {
			err = withFile(ctx, path, t.ReadSubagent)
		}
		if err = warning(path, err); err != nil {
			return err
		}
	}
	return nil
}

// jobIDLen is how many characters of a session ID name its background job.
const jobIDLen = 8

func jobIDOf(id string) string { return id[:min(len(id), jobIDLen)] }

func jobPath(home, id string) string { return filepath.Join(home, "jobs", jobIDOf(id), "state.json") }

// describeJob adds what the file of a background session's job says of it: its name. The state that the file has is often wrong ("working"
// though the session is idle; 2.1.197, 2.1.329): the transcript tells. If the file cannot be read, the record stays as it is. The error is
// a warning.
func describeJob(ctx context.Context, r *discover.Record) error {
	path := jobPath(r.Home, r.ID)
	var job struct {
		SessionID string `json:"sessionId"`
		Name      string `json:"name"`
	}
	err := readJSON(ctx, path, &job)
	if err != nil || job.SessionID != r.ID {
		return warning(path, err)
	}
	r.Title = cmp.Or(r.Title, job.Name)
	r.SetMeta(jobMeta, jobIDOf(r.ID))
	return nil
}
