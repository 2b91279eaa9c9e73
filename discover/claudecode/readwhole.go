package claudecode

import (
	"cmp"
	"context"
	"path/filepath"

	"agentctl/discover"
	"agentctl/discover/claudecode/transcript"
	"agentctl/discover/native/fsread"
)

// readWhole fills the record of a transcript that is read whole. Tokens stay unknown where a part cannot be read.
func (x reader) readWhole(r *discover.Record, e discover.Entry, f *fsread.File, head *transcript.Head, tail *transcript.Tail, t *transcript.Totals) error {
	t.Sidechain, t.Full = tail.Sidechain, x.Full
	if (x.Full || x.Quotas) && !t.Sidechain {
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
		if err := readSubagents(f.Context(), t, r.Path); err != nil {
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

// readSubagents adds the transcripts of the sub-agents of the session with this transcript.
func readSubagents(ctx context.Context, t *transcript.Totals, path string) error {
	below := listSubagentFiles(ctx, path)
	if below.err != nil {
		return asWarning(below.failed, below.err)
	}
	for _, path := range below.files {
		if !isSubagentTranscript(filepath.Base(path)) {
			continue
		}
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
