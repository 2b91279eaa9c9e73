package codex

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"path/filepath"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/native"
)

// errNoMeta: the file has whole lines, but none of them is the record that every rollout begins with.
var errNoMeta = errors.New("no session_meta record: this is no rollout of Codex, or a damaged one")

// neverStarted is the error of a rollout without a single record: its process ended before it wrote one (SEEN 0.169:
// a panic because the reader of its output had gone).
const neverStarted = "never started (empty rollout)"

// Read yields one record a rollout: its head until the first prompt, its end until the newest turn is known.
func (Adapter) Read(ctx context.Context, entries []discover.Entry, want discover.ReadOptions) iter.Seq2[discover.Record, error] {
	return func(yield func(discover.Record, error) bool) {
		titles := map[string]map[string]string{}
		for _, e := range entries {
			if _, ok := titles[e.Home]; ok {
				continue
			}
			t, err := readTitles(ctx, e.Home)
			if titles[e.Home] = t; err != nil && !yield(discover.Record{}, err) {
				return
			}
		}
		threads := native.Each(ctx, entries, func(e discover.Entry, scratch *native.Buffers, t *reading) (bool, error) {
			ok, err := t.read(e, want, scratch)
			t.Title = titles[e.Home][t.ID]
			t.Bound()
			return ok, err
		})
		if inclusive(want) {
			threads = withSubAgents(ctx, threads, want.AllEntries)
		}
		for t, err := range threads {
			if err != nil && !yield(discover.Record{}, err) || t.partial != nil && !yield(discover.Record{}, t.partial) {
				return
			}
			if err == nil && !yield(t.Record, nil) {
				return
			}
		}
	}
}

// reading is what a rollout tells: its record, and what its family goes by. Of one that cannot be read there is its name.
type reading struct {
	discover.Record
	starter string    // whom it works for, as nearly as that is recorded
	changed time.Time // its file
	vague   bool      // what it has used itself cannot be told
	// partial are the warnings of the thread's other rollouts, whose part of the record is missing.
	partial error
}

// How far the first read goes, in bytes: from the start to where most rollouts have told the first prompt, which follows
// the agent's instructions (at 11 to 24 KB); from the end less than to the newest turn's settings, which stand at its
// beginning, since turns are of any length and bytes cost more than reads.
const (
	usualPrompt = 24 << 10
	usualTurn   = 14 << 10
)

// read reads a thread from its rollout. Where that one is damaged, another rollout of the thread tells what the two have
// in common.
func (t *reading) read(e discover.Entry, want discover.ReadOptions, scratch *native.Buffers) (ok bool, err error) {
	if ok, err = t.readEntry(e, want, scratch); err == nil || scratch.Context().Err() != nil {
		return ok, err
	}
	return t.readOther(e, err, scratch)
}

// readEntry reads one rollout. A file that vanished, or was moved or compressed meanwhile, is left to the next look.
func (t *reading) readEntry(e discover.Entry, want discover.ReadOptions, scratch *native.Buffers) (ok bool, err error) {
	end := int64(tailLimit)
	t.name(e)
	f, err := scratch.OpenIn(e.Path)
	if err == nil && strings.HasSuffix(e.Path, packedExt) {
		var g gap
		if f, g, err = unpack(f); err == nil {
			end = f.Size() - g.at
		}
	}
	if native.Absent(err) {
		return false, nil
	}
	if err != nil {
		return false, warn(e.Path, err)
	}
	defer f.Close()
	f.Use(scratch)
	if err := t.readFile(f, end, e, want); err != nil {
		t.name(e)
		return false, warn(e.Path, err)
	}
	return true, nil
}

// name begins with a thread of which nothing but the name is known.
func (t *reading) name(e discover.Entry) {
	*t = reading{Record: discover.Record{Agent: agentName, ID: e.ID, Path: e.Path, Home: e.Home}}
}

// readFile reads an open rollout; its last end bytes may be searched for the newest turn.
func (t *reading) readFile(f *native.File, end int64, e discover.Entry, want discover.ReadOptions) error {
	t.Archived, t.Updated, t.changed = isArchived(e.Path), f.ModTime(), f.ModTime()
	if f.Size() == 0 {
		t.Created, _ = born(e.ID)
		t.Turn = discover.Turn{State: discover.TurnFailed, Error: neverStarted}
		return nil
	}
	head, err := readHead(f, e.ID, (*head).whole)
	if name, ok := parseRollout(filepath.Base(e.Path)); ok && err == nil && name.segment != "" {
		head.segment = name.segment
		err = t.begin(&head, e, f.Holder())
	}
	if err != nil {
		return err
	}
	if !head.meta.found {
		t.Created, _ = born(e.ID)
		return nil
	}
	all := inclusive(want)
	tail, err := readTail(f, end, head.ownID(), wanted{tokens: all, limits: want.Full})
	if err != nil {
		return err
	}
	if h := head.meta.history; h.id != "" && (tail.context == settings{} || all && !tail.usage.begun) {
		t.warn(tail.inherit(e.Home, h, f.Holder()))
	}
	fill(&t.Record, &head, &tail)
	t.starter, t.vague = head.meta.starterID(), !tail.usage.settled
	begun := tail.usage.begun || head.segment != "" // an older segment has used something, if any has
	if begun && tail.usage.settled && (all || !head.meta.continues()) {
		own, err := ownTokens(f, tail.usage, &head, e.Path, e.Home)
		if t.warn(err); err != nil {
			t.vague = true
		} else if used(own) > 0 || tail.usage.begun {
			own.Context, own.Window = tail.usage.context, tail.usage.window
			t.Tokens = &own
		}
	}
	if want.Full {
		t.Quotas = tail.usage.limits.list()
	}
	return nil
}

// fill makes the record of what head and tail tell.
func fill(r *discover.Record, h *head, t *tail) {
	m := &h.meta
	r.ID = h.ownID()
	if r.Created = m.created; r.Created.IsZero() {
		r.Created, _ = born(h.id)
	}
	r.Updated = cmp.Or(t.updated, r.Updated)
	r.Prompt = h.prompt
	if r.Prompt == "" {
		r.Prompt = h.review
	}
	r.Dir, r.Branch, r.Version, r.Source = m.dir, m.branch, m.version, m.kind()
	if t.context.dir != "" {
		r.Dir = t.context.dir
	}
	r.Model, r.Turn = t.context.model, t.waits(time.Now())
	r.Parent, r.Sub, r.ForkedFrom = m.parentID(), m.source.sub != "", m.forkedFrom
	setMeta(r, h, t)
}

// setMeta adds Codex's own facts:
//
//   - originator: the program that made the thread, as it names itself ("codex_exec", "codex-tui")
//   - provider: the model's provider
//   - approval, sandbox: the newest turn's approval policy and sandbox mode
//   - permissionProfile: the profile that the sandbox was made from ("mine"; ":workspace" and the like are Codex's own)
//   - workspace: what the sandbox mode workspace-write allows beyond its own folder, or does not (writableRoots,
//     network, excludeTmpdir, excludeSlashTmp), where that is not the usual
//   - contextWindow: the size of the model's context, in tokens
//   - startDir: the directory the thread was made in, where the newest turn ran in another
//   - subagent, agentNickname, agentRole: what kind of sub-agent it is
func setMeta(r *discover.Record, h *head, t *tail) {
	m := &h.meta
	var window, startDir, workspace any
	if t.usage.window > 0 {
		window = t.usage.window
	}
	if m.dir != r.Dir {
		startDir = m.dir
	}
	if t.context.workspace != nil {
		workspace = *t.context.workspace
	}
	r.Meta = discover.Facts{
		{"agentNickname", m.nickname},
		{"agentRole", m.role},
		{"approval", t.context.approval},
		{"contextWindow", window},
		{"originator", m.originator},
		{"permissionProfile", t.context.profile},
		{"provider", m.provider},
		{"sandbox", t.context.sandbox},
		{"startDir", startDir},
		{"subagent", m.source.sub},
		{"workspace", workspace},
	}.Known()
}
