package claudecode

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native"
)

// Read yields the records of the transcripts: from the beginning until the first prompt is known, from the end until
// the turn is, and the notes that Claude Code would find itself; whole only for token totals. A transcript without a message is none: Claude Code leaves such
// files behind at resumes.
//
// Meta keys: projectDir (the project folder's name), entrypoint (as Claude Code calls it, where Source is another
// word), jobId (of a background session), agentType (of a sub-agent), workflow (the run that it works for), continuedIn
// (the background session that it has become), costWithOrigin (of a fork, in USD: the agent's figure, in which what the
// fork was made of has its part). With Want.Whole also turns (prompts), permissionMode (of the newest
// prompt: default, acceptEdits, plan, auto, dontAsk, bypassPermissions), and projectPath (the directory that the project
// folder is that of, where the session has moved to another since).
func (Adapter) Read(ctx context.Context, entries []discover.Entry, want discover.Want) iter.Seq2[discover.Record, error] {
	jobs, unlisted := jobsOf(ctx, entries)
	if want.Tokens || want.Whole {
		entries = native.LargestFirst(entries, func(e discover.Entry) int64 { return e.Size })
	}
	return func(yield func(discover.Record, error) bool) {
		for _, err := range unlisted {
			if !yield(discover.Record{}, err) {
				return
			}
		}
		roots := native.OpenRoots(ctx, len(entries), maps.Keys(jobs), projectsName)
		defer roots.Close()
		all := &besides{roots: roots}
		read := func(e discover.Entry, scratch *native.Scratch, r *result) (bool, error) {
			r.read(roots, e, want, scratch, all)
			jobs.complete(ctx, r)
			r.Bound()
			return r.ok, r.err
		}
		for r, err := range native.Each(ctx, entries, read) {
			if err != nil && !yield(discover.Record{}, asWarning(r.path, err)) || r.ok && !yield(r.Record, nil) {
				return
			}
		}
	}
}

// asWarning is err as a warning: of the file at path, unless it names another.
func asWarning(path string, err error) error {
	if w, ok := errors.AsType[*discover.Warning](err); ok {
		return w
	}
	return warning(path, cause(err))
}

// result is what reading one transcript gave: a record, an error, or both where only a part could not be read.
type result struct {
	discover.Record
	ok   bool
	path string // what err is about
	err  error
}

// The Meta keys that a resume asks for.
const (
	projectMeta = "projectDir"
	dirMeta     = "projectPath"
	modeMeta    = "permissionMode"
	jobMeta     = "jobId"
)

var errNoRecords = errors.New("no transcript, or a damaged one: no message can be found in it")

// read reads one session; neither record nor error where the file holds none, or is gone.
func (r *result) read(roots native.Roots, e discover.Entry, want discover.Want, scratch *native.Scratch, all *besides) {
	r.path = e.Path
	f, err := roots.Open(e.Path, scratch)
	if native.Absent(err) {
		return
	}
	if r.err = err; err != nil {
		return
	}
	defer f.Close()
	if want.Tokens || want.Whole {
		f.Whole()
	}
	var head headScan
	tail := tailScan{side: isSubagent(e.ID), began: want.Began}
	if r.err = head.read(f); r.err == nil {
		tail.printed = head.printed()
		r.err = tail.read(f)
	}
	if r.err == nil && !head.message && !head.readable(f) {
		r.err = errNoRecords
	}
	if r.err != nil || !head.message || head.sidechain != tail.side {
		return
	}
	r.ok = true
	if want.Tokens || want.Whole {
		r.path, r.err = readWhole(&r.Record, e, f, &head, &tail, want, scratch, all)
		return
	}
	r.err = tail.readNotes(f)
	if err := fill(&r.Record, e, f, &head, &tail); r.err == nil {
		r.err = err
	}
}

// fill makes the record of what head and tail tell. Its error is a warning: of what stands beside the transcript.
func fill(r *discover.Record, e discover.Entry, f *native.File, head *headScan, tail *tailScan) error {
	notes := &tail.notes
	notes.before(&head.notes)
	*r = discover.Record{
		Agent: agentName, ID: e.ID, Path: e.Path, Home: e.Home, Parent: e.Parent,
		Dir:     cmp.Or(notes.get(relocated), tail.last.Cwd, head.first.Cwd),
		Title:   notes.title(),
		Prompt:  head.prompt(),
		Model:   cmp.Or(tail.model, head.model),
		Branch:  branch(tail),
		Version: cmp.Or(tail.last.Version, head.first.Version),
		Created: head.created, Updated: tail.updated, ForkedFrom: head.first.ForkedFrom,
		Turn: tail.turn.result(tail.whole), Cost: notes.usd(),
	}
	if r.Updated.IsZero() {
		r.Updated = f.ModTime()
	}
	entrypoint := cmp.Or(tail.last.Entrypoint, head.first.Entrypoint)
	if r.Source = sourceOf(entrypoint); r.Source == entrypoint {
		entrypoint = ""
	}
	if tail.last.Background { // also when its job is gone (claude rm)
		r.Source = "bg"
	}
	texts := head.texts
	r.Meta = discover.Facts{{"entrypoint", texts.Value(entrypoint)}, {projectMeta, texts.Value(projectOf(e))}, {"continuedIn", notes.get(moved)}}.Known()
	if head.forked() {
		if r.Created.Equal(head.recorded) {
			r.Created = head.copies.began
		}
		withOrigin(r)
	}
	if tail.side {
		r.Parent = cmp.Or(r.Parent, head.first.Parent)
		return describeSubagent(f.Context(), r, head.continued)
	}
	return nil
}

// sourceOf translates the entrypoint: how the process that wrote the record was started.
func sourceOf(entrypoint string) string {
	switch entrypoint {
	case "cli":
		return "tui"
	case print:
		return "print"
	case "sdk-ts", "sdk-py":
		return "sdk"
	}
	return entrypoint
}

// branch prefers the worktree's: in a worktree that Claude Code made, records name the branch it came from (2.1.197). A session
// that has left it again (SEEN 2.1.329, 2.1.330) is on the branch that its records name.
func branch(tail *tailScan) string {
	if b := tail.notes.get(worktree); b != "" {
		return b
	}
	inWorktree := strings.Contains(tail.last.Cwd, "/.claude/worktrees/")
	if tail.last.GitBranch == "HEAD" || inWorktree {
		return ""
	}
	return tail.last.GitBranch
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
