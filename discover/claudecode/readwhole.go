package claudecode

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"

	"agentctl/discover"
	"agentctl/discover/claudecode/transcript"
	"agentctl/discover/native/fsread"
)

// readWhole fills the record of a transcript that is read whole. Tokens stay unknown where a part cannot be read.
func (x *reader) readWhole(r *discover.Record, e discover.Entry, f *fsread.File, head *transcript.Head, tail *transcript.Tail, t *transcript.Totals) error {
	t.Sidechain, t.Full = tail.Sidechain, x.options.Full
	if (x.options.Full || x.options.Quotas) && !t.Sidechain {
		if project := projectOf(e); project != "" {
			t.IsProjectDir = func(dir string) bool { return isSlugOf(project, dir) }
		}
	}
	err := t.Read(f)
	if err == nil {
		tail.Metadata = t.Metadata
	}
	unknown := fill(r, e, f, head, tail)
	if err != nil {
		return err
	}
	fillTotals(r, t)
	if !t.Sidechain {
		if err := readSubagents(f.Context(), t, r, x.projects[filepath.Dir(r.Path)]); err != nil {
			return err
		}
	}
	if r.Tokens, err = t.Tokens(); err != nil {
		return err
	}
	return unknown
}

// fillTotals adds what only a whole transcript says, except for the tokens.
func fillTotals(r *discover.Record, t *transcript.Totals) {
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

// readSubagents adds the transcripts of the session's sub-agents: those below its folder and, up to 2.0.x, those in its project
// folder.
func readSubagents(ctx context.Context, t *transcript.Totals, r *discover.Record, project projectContents) error {
	if project.err != nil {
		return asWarning(project.failed, project.err)
	}
	paths := slices.Clone(project.subagents[r.ID])
	below := listSubagentFiles(ctx, r.Path)
	if below.err != nil {
		return asWarning(below.failed, below.err)
	}
	for _, path := range below.files {
		if isSubagentTranscript(filepath.Base(path)) {
			paths = append(paths, path)
		}
	}
	for _, path := range paths {
		if err := readSubagent(ctx, t, path); err != nil && !fsread.IsNotExist(err) {
			return asWarning(path, err)
		}
	}
	return nil
}

func readSubagent(ctx context.Context, t *transcript.Totals, path string) error {
	f, err := fsread.Open(ctx, path)
	if err != nil {
		return err
	}
	defer f.Close()
	return t.ReadSubagent(f)
}
