package codex

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// neverStartedError is the error of an empty rollout: its process ended before it wrote a record (SEEN 0.169: a panic because the
// reader of its output had exited).
const neverStartedError = "never started (empty rollout)"

// Read yields one record for each thread. It reads a rollout from its beginning to the first prompt, and from its end back to the
// beginning of the newest turn.
func (Adapter) Read(ctx context.Context, entries []discover.Entry, options discover.ReadOptions) iter.Seq2[discover.Record, error] {
	return func(yield func(discover.Record, error) bool) {
		for t, err := range readThreads(ctx, entries, readOptions{ReadOptions: options}) {
			if !yield(t.Record, err) {
				return
			}
		}
	}
}

// readThreads yields the threads and, each with an empty thread, the warnings about them.
func readThreads(ctx context.Context, entries []discover.Entry, options readOptions) iter.Seq2[*storedThread, error] {
	return func(yield func(*storedThread, error) bool) {
		titles, err := readTitles(ctx, entries)
		if err != nil && !yield(new(storedThread), err) {
			return
		}
		threads := storage.ReadParallel(ctx, entries, func(ctx context.Context, e discover.Entry, t *storedThread) (bool, error) {
			ok, err := t.read(ctx, e, options)
			t.Title = cmp.Or(titles[e.Home][t.ID], t.Title)
			t.TruncateTexts()
			return ok, err
		})
		if !options.Answers && New().IncludesSubagents(options.ReadOptions) {
			threads = withSubagentTokens(ctx, threads, options.AllEntries)
		}
		for t, err := range threads {
			if err := errors.Join(err, t.warnings, t.damaged); err != nil && !yield(new(storedThread), err) {
				return
			}
			if err == nil && !yield(t, nil) {
				return
			}
		}
	}
}

// readOptions is what is read of a thread.
type readOptions struct {
	discover.ReadOptions
	Answers bool // what each answer used, without the tokens of sub-agents
}

// storedThread is what is read of a thread: its record, and what its totals with sub-agents need. If its rollout cannot be read, only
// the ID, path and home are set.
type storedThread struct {
	discover.Record
	startedBy     string     // the thread that started it as a sub-agent, as exactly as that is recorded
	fileTime      time.Time  // modification time of its rollout
	tokensUnknown bool       // its own tokens cannot be determined
	answers       answerList // what each answer used, if that was asked for, or the tokens needed it
	damaged       error      // the warning about damaged records of its rollout
	// warnings are about other rollouts of the thread, whose part of the record is missing.
	warnings error
}

// read reads a thread from its rollout. If that is damaged, it reads what another rollout of the thread has in common with it.
func (s *storedThread) read(ctx context.Context, e discover.Entry, options readOptions) (ok bool, err error) {
	if ok, err = s.readEntry(ctx, e, options); err == nil || ctx.Err() != nil {
		return ok, err
	}
	return s.readAlternative(ctx, e, err)
}

// readEntry reads one rollout. It is not ok if the file was deleted, moved or compressed after it was listed: the next snapshot finds it.
func (s *storedThread) readEntry(ctx context.Context, e discover.Entry, options readOptions) (ok bool, err error) {
	s.reset(e)
	f, g, err := openRollout(ctx, e.Path)
	if err != nil {
		return false, warn(e.Path, err)
	}
	defer f.Close()
	if err := s.readFile(f, min(tailLimit, f.Size()-g.start), e, options); err != nil {
		s.reset(e)
		return false, warn(e.Path, err)
	}
	return true, nil
}

// reset makes t a thread of which only the entry is known.
func (s *storedThread) reset(e discover.Entry) {
	*s = storedThread{Record: discover.Record{Agent: agentName, ID: e.ID, Path: e.Path, Home: e.Home}}
}

// readFile reads an open rollout. It searches at most its last end bytes for the newest turn.
func (s *storedThread) readFile(f *storage.File, end int64, e discover.Entry, options readOptions) error {
	s.Archived, s.Updated, s.fileTime = isArchived(e.Path), f.ModTime(), f.ModTime()
	if f.Size() == 0 {
		s.Created, _ = threadCreated(e.ID)
		s.Turn = discover.Turn{State: discover.TurnFailed, Error: neverStartedError}
		return nil
	}
	head, err := readHead(f, e.ID, (*rolloutHead).Complete)
	continues := segmentOf(e) != "" // an older rollout of the thread
	if err == nil && continues {
		err = s.completeHead(f.Context(), &head, e)
	}
	if err != nil {
		return err
	}
	if !head.SessionMeta.Found {
		s.Created, _ = threadCreated(e.ID)
		return nil
	}
	all := New().IncludesSubagents(options.ReadOptions)
	tail, err := readTail(f, end, head.ThreadID(), tailOptions{all || options.Quotas, options.Full || options.Quotas, &head})
	if err != nil {
		return err
	}
	s.setDamage(f, tail.damage)
	fillRecord(&s.Record, &head, &tail)
	s.startedBy, s.tokensUnknown = head.SessionMeta.StarterID(), !tail.Usage.Final
	hasTokens := tail.Usage.Any || continues // tokens may also be in an older segment
	if hasTokens && tail.Usage.Final && (all || !head.MayInherit()) {
		own, err := tail.Usage.larger(), error(nil)
		endIsOthers := head.MayInherit() || continues // the total at the end is not that of this thread alone
		if endIsOthers || options.Answers {
			s.answers, err = s.readAnswers(f, &head, e)
		}
		if endIsOthers {
			own = s.answers.sum
			own.Total = inAndOut(own)
		}
		if s.addWarning(err); err != nil {
			s.tokensUnknown = true
		} else if inAndOut(own) > 0 || tail.Usage.Any {
			own.Context, own.Window = tail.Usage.Context, tail.Usage.Window
			s.Tokens = &own
		}
	}
	s.Quotas = tail.quotas.list()
	return nil
}

// fillRecord sets the record from both ends of the rollout. The facts that only Codex has are those of the first record (see
// [sessionMeta.facts]), and
//
//   - approval, sandbox: the newest turn's approval policy and sandbox mode
//   - permissionProfile: the profile that the sandbox was made from ("mine"; ":workspace" and the like are Codex's own)
//   - workspace: how the sandbox mode workspace-write differs from its default (writableRoots, network, excludeTmpdir,
//     excludeSlashTmp)
//   - contextWindow: the size of the model's context, in tokens
//   - startDir: the directory the thread was made in, where the newest turn ran in another
func fillRecord(r *discover.Record, h *rolloutHead, t *rolloutTail) {
	m := &h.SessionMeta
	r.ID = h.ThreadID()
	if r.Created = m.Created; r.Created.IsZero() {
		r.Created, _ = threadCreated(h.FileID)
	}
	r.Updated = cmp.Or(t.Updated, r.Updated)
	r.Prompt, r.Dir = cmp.Or(h.Prompt, h.Review), cmp.Or(t.Settings.Dir, m.Dir)
	r.Branch, r.Version, r.Source = m.Branch, m.Version, m.SourceName()
	r.Title = cmp.Or(t.Name, h.Name)
	r.Model, r.Turn = t.Settings.Model, t.TurnAt(time.Now())
	r.Parent, r.Sub, r.ForkedFrom = m.ParentID(), m.Source.Subagent != "", m.ForkedFrom
	r.Meta = m.facts()
	r.SetMeta("approval", t.Settings.Approval)
	r.SetMeta("sandbox", t.Settings.Sandbox)
	r.SetMeta("permissionProfile", t.Settings.Profile)
	if t.Settings.Workspace != nil {
		r.SetMeta("workspace", *t.Settings.Workspace)
	}
	if t.Usage.Window > 0 {
		r.SetMeta("contextWindow", t.Usage.Window)
	}
	if m.Dir != r.Dir {
		r.SetMeta("startDir", m.Dir)
	}
}

// titlesFile contains the names that the user gave to threads, one record a line, the newest last. It does not exist before the first
// name. Codex recorded names in the rollouts before it had this file, and passes over blank ones.
const titlesFile = "session_index.jsonl"

// readTitles returns the names of the threads in the homes of these entries, by home and thread ID.
func readTitles(ctx context.Context, entries []discover.Entry) (map[string]map[string]string, error) {
	titles := map[string]map[string]string{}
	var errs []error
	for _, e := range entries {
		if titles[e.Home] == nil {
			titles[e.Home] = map[string]string{}
			path := filepath.Join(e.Home, titlesFile)
			errs = append(errs, warn(path, readNames(ctx, path, titles[e.Home])))
		}
	}
	return titles, errors.Join(errs...)
}

// readNames adds the names in a file to those of their threads, by thread ID.
func readNames(ctx context.Context, path string, names map[string]string) error {
	f, err := storage.Open(ctx, path)
	if err != nil {
		return err
	}
	defer f.Close()
	const most = 16 << 20 // bytes at its end: some hundred thousand names
	_, err = f.RecordsBackward(most, func(l storage.Line) bool {
		record := storage.Object(l.Bytes)
		id, name := parseThreadID(record.Get("id")), threadName(record)
		if names[id] == "" && name != "" && !l.Rest && !l.Cut {
			names[id] = name
		}
		return true
	})
	return err
}

// threadName is the name in a record that gives a thread one, at most 1000 characters of it; "" if it is blank.
func threadName(o storage.Object) string {
	return strings.TrimSpace(o.Get("thread_name").Text(1000))
}

// errOtherThread is the error of a rollout whose first record contradicts its file name. A rollout that begins with an edited prompt
// always belongs to the thread in its name.
var errOtherThread = errors.New("its first record names a thread other than its file name does")

// completeHead completes the head of a rollout that begins with an edited prompt: the time of creation and the first prompt are in the
// thread's first rollout. If that cannot be read, a warning names it, and the prompt of this rollout stays.
func (s *storedThread) completeHead(ctx context.Context, h *rolloutHead, e discover.Entry) error {
	if h.SessionMeta.Found && h.ThreadID() != e.ID {
		return errOtherThread
	}
	var first rolloutHead
	path, err := findRollout(ctx, e.Home, e.ID)
	if err == nil {
		var f *storage.File
		if f, first, err = openSegment(ctx, path, e.ID); err == nil {
			_ = f.Close()
		}
	}
	switch {
	case storage.IsNotExist(err), errors.Is(err, errNoRollout): // deleted: this rollout has all that is left
	case err != nil:
		h.SessionMeta.Created, _ = threadCreated(e.ID)
		s.addWarning(warn(path, fmt.Errorf("the session's first prompt is unknown: %w", storage.WithoutPath(path, err))))
	case first.SessionMeta.Found:
		h.SessionMeta.Created = first.SessionMeta.Created
		h.Prompt, h.Review = first.Prompt, first.Review
	}
	return ctx.Err()
}

// openSegment opens one of a thread's rollouts and reads its beginning. Error: [errOtherThread], or [errNoMeta] if it is none.
func openSegment(ctx context.Context, path, id string) (f *storage.File, h rolloutHead, err error) {
	if f, _, err = openRollout(ctx, path); err != nil {
		return nil, h, err
	}
	if h, err = readHead(f, id, (*rolloutHead).Complete); err == nil && h.SessionMeta.Found && h.ThreadID() != id {
		err = errOtherThread
	}
	if err != nil {
		_ = f.Close()
	}
	return f, h, err
}

// readAlternative reads a thread whose rollout is damaged from another one: its compressed copy or, if it begins with an edited prompt, the
// thread's first rollout. The newest turn and the tokens stay unknown: only the damaged rollout has them.
func (s *storedThread) readAlternative(ctx context.Context, e discover.Entry, damage error) (ok bool, err error) {
	other := discover.Entry{ID: e.ID, Path: strings.TrimSuffix(e.Path, plainExt) + compressedExt, Home: e.Home}
	if segmentOf(e) != "" {
		other.Path, _ = findRollout(ctx, e.Home, e.ID) // if there is none, the damage is reported
	}
	if ok, err := s.readEntry(ctx, other, readOptions{}); !ok || err != nil || s.ID != e.ID {
		s.reset(e)
		return false, damage
	}
	s.Path, s.Archived, s.Turn, s.Tokens, s.tokensUnknown = e.Path, isArchived(e.Path), discover.Turn{}, nil, true
	if e.Updated.After(s.Updated) {
		s.Updated = e.Updated
	}
	s.addWarning(damage)
	return true, nil
}

// addWarning adds a warning about one of the thread's rollouts. err may be nil.
func (s *storedThread) addWarning(err error) { s.warnings = errors.Join(s.warnings, err) }

// setDamage sets the warning about damaged records of the thread's rollout.
func (s *storedThread) setDamage(f *storage.File, d storage.Damage) {
	if s.damaged = d.In(f); s.damaged != nil {
		s.damaged = warn(f.Path(), s.damaged)
	}
}
