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
		x := reader{options}
		for r, err := range fsread.ReadParallel(ctx, entries, x.read) {
			if err != nil && !yield(discover.Record{}, err) || r.ID != "" && !yield(*r, nil) {
				return
			}
		}
	}
}

// asWarning makes err a warning about the file at path, unless it is already one.
func asWarning(path string, err error) error {
	if _, ok := errors.AsType[*discover.Warning](err); ok || err == nil {
		return err
	}
	return warning(path, cause(err))
}

// The Meta keys that resume and stop need.
const (
	projectMeta = "projectDir"
	dirMeta     = "projectPath"
	modeMeta    = "permissionMode"
	jobMeta     = "jobId"
)

var errNoRecords = errors.New("no transcript, or a damaged one: no message can be found in it")

// reader is one call of Read.
type reader struct {
	discover.ReadOptions
}

// read reads one session. There is neither a record nor an error if the file holds none, or is gone, and both if a part
// could not be read. Errors are warnings.
func (x reader) read(ctx context.Context, e discover.Entry, r *discover.Record) (ok bool, err error) {
	return x.readSession(ctx, e, r, &transcript.Totals{})
}

// readSession is read with the totals that a transcript is read into as a whole.
func (x reader) readSession(ctx context.Context, e discover.Entry, r *discover.Record, t *transcript.Totals) (ok bool, err error) {
	f, err := fsread.Open(ctx, e.Path)
	if fsread.IsNotExist(err) {
		return false, nil
	}
	if err != nil {
		return false, asWarning(e.Path, err)
	}
	defer f.Close()
	var head transcript.Head
	tail := transcript.Tail{Sidechain: isSubagent(e.ID), NeedTurnStart: x.TurnStart}
	if err = head.Read(f); err == nil {
		err = tail.Read(f)
	}
	if err == nil && !head.HasMessage && !head.Readable(f) {
		err = errNoRecords
	}
	if err != nil || !head.HasMessage || head.Sidechain != tail.Sidechain {
		return false, asWarning(e.Path, err)
	}
	if x.Tokens || x.Full || x.Quotas {
		err = x.readWhole(r, e, f, &head, &tail, t)
	} else {
		err = fill(r, e, f, &head, &tail)
	}
	if r.Source == "bg" {
		err = cmp.Or(err, describeJob(f.Context(), r))
	}
	r.TruncateTexts()
	return true, asWarning(e.Path, err)
}

// fill makes the record from the head and the tail. Its error is a warning about files beside the transcript.
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
	if tail.Last.Background { // also after its job was removed (claude rm)
		r.Source = "bg"
	}
	r.Meta = discover.Facts{{"entrypoint", entrypoint}, {projectMeta, projectOf(e)}, {"continuedIn", metadata.Get(transcript.ContinuedIn)}}.WithoutEmpty()
	if head.Forked() {
		r.Created = head.ForkCreated()
		moveSharedCost(r)
	}
	if last := tail.Last; last.Team != "" && last.Teammate != "" {
		r.Team, r.Title = last.Team, cmp.Or(metadata.Get(transcript.CustomTitle), last.Teammate)
	}
	if tail.Sidechain {
		r.Parent = cmp.Or(r.Parent, head.First.Parent)
		return describeSubagent(f.Context(), r, head.Continued)
	}
	return nil
}

// projectOf returns the name of the project folder that an entry is in; "" if it is in none.
func projectOf(e discover.Entry) string {
	rest, inHome := strings.CutPrefix(e.Path, e.Home)
	rest, inProjects := strings.CutPrefix(rest, "/"+projectsName+"/")
	folder, _, inside := strings.Cut(rest, "/")
	if !inHome || !inProjects || !inside {
		return ""
	}
	return folder
}
