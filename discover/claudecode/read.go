package claudecode

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"strings"

	"agentctl/discover"
	"agentctl/discover/claudecode/transcript"
	"agentctl/discover/native/fsread"
)

// Read yields the records of the transcripts: from the beginning until the first prompt is known, from the end until
// the turn is, and the notes that Claude Code would find itself; whole only for token totals. A transcript without a message is none: Claude Code leaves such
// files behind at resumes.
//
// Meta keys: projectDir (the project folder's name), entrypoint (as Claude Code calls it, where Source is another
// word), jobId (of a background session), agentType (of a sub-agent), workflow (the run that it works for), continuedIn
// (the background session that it has become), costWithOrigin (of a fork, in USD: the agent's figure, in which what the
// fork was made of has its part). With ReadOptions.Full also turns (prompts), permissionMode (of the newest
// prompt: default, acceptEdits, plan, auto, dontAsk, bypassPermissions), and projectPath (the directory that the project
// folder is that of, where the session has moved to another since).
func (Adapter) Read(ctx context.Context, entries []discover.Entry, want discover.ReadOptions) iter.Seq2[discover.Record, error] {
	x := reader{want: want, whole: want.Tokens || want.Full}
	return func(yield func(discover.Record, error) bool) {
		var unlisted []error
		x.jobs, unlisted = listJobs(ctx, entries)
		for _, err := range unlisted {
			if !yield(discover.Record{}, err) {
				return
			}
		}
		if x.whole {
			x.projects = listProjects(ctx, entries)
		}
		for r, err := range fsread.ReadParallel(ctx, entries, x.read) {
			if err != nil && !yield(discover.Record{}, err) || r.ID != "" && !yield(*r, nil) {
				return
			}
		}
	}
}

// asWarning is err as a warning: of the file at path, unless it names another.
func asWarning(path string, err error) error {
	if _, ok := errors.AsType[*discover.Warning](err); ok || err == nil {
		return err
	}
	return warning(path, cause(err))
}

// The Meta keys that a resume asks for.
const (
	projectMeta = "projectDir"
	dirMeta     = "projectPath"
	modeMeta    = "permissionMode"
	jobMeta     = "jobId"
)

var errNoRecords = errors.New("no transcript, or a damaged one: no message can be found in it")

// reader is one call of Read.
type reader struct {
	want     discover.ReadOptions
	whole    bool // transcripts are read whole
	jobs     backgroundJobs
	projects map[string]projectContents // by project folder
}

// read reads one session: neither a record nor an error where the file holds none, or is gone, and both where only a part could
// not be read. Errors are warnings.
func (x *reader) read(e discover.Entry, scratch *fsread.Buffers, r *discover.Record) (ok bool, err error) {
	f, err := scratch.OpenIn(e.Path)
	if fsread.IsNotExist(err) {
		return false, nil
	}
	if err != nil {
		return false, asWarning(e.Path, err)
	}
	defer f.Close()
	var head transcript.Head
	tail := transcript.Tail{Sidechain: isSubagent(e.ID), NeedTurnStart: x.want.TurnStart}
	if err = head.Read(f); err == nil {
		tail.PrintPrompt = head.PrintPrompt()
		err = tail.Read(f)
	}
	if err == nil && !head.HasMessage && !head.Readable(f) {
		err = errNoRecords
	}
	if err != nil || !head.HasMessage || head.Sidechain != tail.Sidechain {
		return false, asWarning(e.Path, err)
	}
	if x.whole {
		err = x.readWhole(r, e, f, &head, &tail)
	} else {
		err = tail.ReadMetadata(f)
		err = cmp.Or(err, fill(r, e, f, &head, &tail))
	}
	err = cmp.Or(err, x.jobs.describe(f.Context(), r))
	r.TruncateTexts()
	return true, asWarning(e.Path, err)
}

// fill makes the record of what head and tail tell. Its error is a warning: of what stands beside the transcript.
func fill(r *discover.Record, e discover.Entry, f *fsread.File, head *transcript.Head, tail *transcript.Tail) error {
	metadata := &tail.Metadata
	metadata.FillFrom(&head.Metadata)
	*r = discover.Record{
		Agent: agentName, ID: e.ID, Path: e.Path, Home: e.Home, Parent: e.Parent,
		Dir:     cmp.Or(metadata.Get(transcript.RelocatedDir), tail.Last.Cwd, head.First.Cwd),
		Title:   metadata.Title(),
		Prompt:  head.Prompt(),
		Model:   cmp.Or(tail.Model, head.Model),
		Branch:  tail.Branch(),
		Version: cmp.Or(tail.Last.Version, head.First.Version),
		Created: head.Created, Updated: tail.Updated, ForkedFrom: head.First.ForkedFrom,
		Turn: tail.Turn.Result(tail.Whole), Cost: metadata.CostUSD(),
	}
	if r.Updated.IsZero() {
		r.Updated = f.ModTime()
	}
	entrypoint := cmp.Or(tail.Last.Entrypoint, head.First.Entrypoint)
	if r.Source = transcript.SourceOf(entrypoint); r.Source == entrypoint {
		entrypoint = ""
	}
	if tail.Last.Background { // also when its job is gone (claude rm)
		r.Source = "bg"
	}
	texts := head.Strings
	r.Meta = discover.Facts{{"entrypoint", texts.Value(entrypoint)}, {projectMeta, texts.Value(projectOf(e))}, {"continuedIn", metadata.Get(transcript.ContinuedIn)}}.WithoutEmpty()
	if head.Forked() {
		r.Created = head.ForkCreated()
		moveSharedCost(r)
	}
	if tail.Sidechain {
		r.Parent = cmp.Or(r.Parent, head.First.Parent)
		return describeSubagent(f.Context(), r, head.Continued)
	}
	return nil
}

// projectOf is the name of the project folder that an entry lies in.
func projectOf(e discover.Entry) string {
	rest, inHome := strings.CutPrefix(e.Path, e.Home)
	rest, inProjects := strings.CutPrefix(rest, "/"+projectsName+"/")
	folder, _, inside := strings.Cut(rest, "/")
	if !inHome || !inProjects || !inside {
		return ""
	}
	return folder
}
