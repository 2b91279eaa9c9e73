package codex

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/launch"
)

// Entries lists the rollouts of the homes by name and time. An ID contains the time at which its thread began, so a full ID is looked
// up in three date directories and the archive. Without an ID, every date directory is listed: a thread that is resumed stays in
// the directory of the day it began, and only the modification time of its file shows its age.
func (Adapter) Entries(ctx context.Context, homes []discover.Home, filter discover.EntryFilter) ([]discover.Entry, error) {
	var (
		found []discover.Entry
		errs  []error
	)
	for _, h := range homes {
		s := newHomeScan(ctx, h.Dir)
		s.Since = filter.Since
		s.list(filter)
		found, errs = append(found, s.preferred()...), append(errs, s.Warnings...)
	}
	return found, errors.Join(append(errs, ctx.Err())...)
}

// homeScan lists rollouts of one home.
type homeScan struct {
	ctx context.Context // of the call that the scan lives for
	discover.EntryList
}

func newHomeScan(ctx context.Context, home string) homeScan {
	return homeScan{ctx, discover.EntryList{Agent: agentName, Home: home}}
}

func (h *homeScan) list(filter discover.EntryFilter) {
	switch {
	case filter.Parents != nil:
		for _, ref := range filter.Parents {
			h.listSubagentCandidates(ref)
		}
	case filter.Refs != nil:
		for _, ref := range filter.Refs {
			h.findRef(ref)
		}
	case storage.IsUUIDPrefix(filter.ID, false): // else it is an ID of another agent
		match := func(name rolloutName) bool { return strings.HasPrefix(name.id, filter.ID) }
		if near, ok := daysOfID(filter.ID); ok {
			h.listDays(near, match)
		}
		if len(h.Found) == 0 { // no ID, one of another version, or a file that was moved
			h.walk(dayRange{}, match)
		}
	}
}

// listSubagentCandidates lists the threads that began while this one was active: its sub-agents, and others. Their IDs contain the
// time. A sub-agent may outlive its parent thread and start others.
func (h *homeScan) listSubagentCandidates(ref discover.Ref) {
	const grace = 24 * time.Hour
	first, ok := threadCreated(ref.ID)
	info, err := os.Stat(ref.Path)
	if h.contains(ref.Path) && ok && err == nil {
		h.listCreated(first, info.ModTime().Add(grace), func(id string) bool { return id != ref.ID })
	}
}

// listCreated lists the threads that began between two moments, by their IDs, and whose IDs match accepts. It searches the date
// directories of that range, and those of a month after it for rollouts that began with an edited prompt.
func (h *homeScan) listCreated(first, last time.Time, match func(id string) bool) {
	in := dayRange{first.UTC().AddDate(0, 0, -1).Format(dayLayout), last.UTC().AddDate(0, 1, 0).Format(dayLayout)}
	h.walk(in, func(name rolloutName) bool {
		at, ok := threadCreated(name.id)
		return ok && !at.Before(first) && !at.After(last) && match(name.id)
	})
}

// findRef looks up one session. It searches its date directories only: a thread that has just begun has no file yet, and must not
// cost a scan of the whole home each time.
func (h *homeScan) findRef(ref discover.Ref) {
	if ref.Path != "" && !h.contains(ref.Path) || h.findPath(ref) {
		return
	}
	near, _ := daysOfID(ref.ID)
	h.listDays(near, func(name rolloutName) bool { return name.id == ref.ID })
}

// listDays lists the rollouts whose names match accepts in the directories of these days. For each it also searches where a rollout
// with an edited prompt would be: in the directories of the month after its last change. It does not search later directories, since
// each costs as much as reading a session.
func (h *homeScan) listDays(in dayRange, match func(rolloutName) bool) {
	before := len(h.Found)
	h.walk(in, match)
	for _, e := range h.Found[before:] {
		last := e.Updated
		after := dayRange{last.AddDate(0, 0, -1).Format(dayLayout), last.AddDate(0, 1, 0).Format(dayLayout)}
		h.walkDir(filepath.Join(h.Home, sessionsDir), "", after, match)
	}
}

// contains reports whether the path is that of a rollout in this home.
func (h *homeScan) contains(path string) bool {
	return strings.HasPrefix(path, filepath.Join(h.Home, sessionsDir)+"/") ||
		strings.HasPrefix(path, filepath.Join(h.Home, archiveDir)+"/")
}

// findPath looks up one session by the path of its rollout.
func (h *homeScan) findPath(ref discover.Ref) bool {
	name, ok := parseRolloutName(filepath.Base(ref.Path))
	if !ok || name.id != ref.ID {
		return false
	}
	if storage.CheckDir(h.ctx, filepath.Dir(ref.Path)) != nil {
		return false
	}
	before := len(h.Found)
	path := filepath.Clean(ref.Path)
	info, err := storage.Stat(h.ctx, path)
	h.addFile(path, name.id, info, err)
	return len(h.Found) > before
}

// walk lists the rollouts whose names match accepts in the archive and in the date directories of the range.
func (h *homeScan) walk(in dayRange, match func(rolloutName) bool) {
	h.walkDir(filepath.Join(h.Home, archiveDir), "", in, match)
	h.walkDir(filepath.Join(h.Home, sessionsDir), "", in, match)
}

// maxDepth is how many levels of directories are searched for rollouts. Codex itself makes three.
const maxDepth = 8

// walkDir lists one directory and the date directories of the range that are below it. In the range of all days it lists all directories:
// people move rollouts. folder is the path below the first one.
func (h *homeScan) walkDir(path, folder string, in dayRange, match func(rolloutName) bool) {
	if h.ctx.Err() != nil {
		return
	}
	entries, err := storage.ReadDir(h.ctx, path)
	h.addError(path, err)
	for _, n := range entries {
		name, below := n.Name(), filepath.Join(folder, n.Name())
		depth := strings.Count(below, "/") + 1
		if r, ok := parseRolloutName(name); ok && match(r) {
			info, err := storage.Stat(h.ctx, path+"/"+name)
			h.addFile(path+"/"+name, r.id, info, err)
		} else if isDate := isNumber(name) && depth <= len("YMD"); isDate && in.contains(below) || in == (dayRange{}) && n.IsDir() && depth <= maxDepth {
			h.walkDir(filepath.Join(path, name), below, in, match)
		}
	}
}

func isNumber(name string) bool {
	return len(name) > 0 && strings.Trim(name, "0123456789") == ""
}

func (h *homeScan) addFile(path, id string, info storage.FileInfo, err error) {
	if h.addError(path, err); err == nil {
		h.Add(discover.Entry{ID: id, Path: path}, info, nil)
	}
}

// preferred returns, of each thread, the rollout that is to be read.
func (h *homeScan) preferred() (list []discover.Entry) {
	byID := map[string]int{} // indexes of list
	for _, e := range h.Found {
		i, ok := byID[e.ID]
		switch {
		case !ok:
			byID[e.ID] = len(list)
			list = append(list, e)
		case comparePreference(e, list[i]) < 0:
			list[i] = e
		}
	}
	return list
}

// comparePreference is negative if a is to be read rather than b, another rollout of the same thread. Codex prefers a plain file to a
// compressed one. An archived thread that was restored is among the others. Of the rollouts that began with an edited prompt, the
// newest counts, by the times in their IDs.
func comparePreference(a, b discover.Entry) int {
	rank := func(last bool) int {
		if last {
			return 1
		}
		return 0
	}
	isCompressed := func(e discover.Entry) bool { return strings.HasSuffix(e.Path, compressedExt) }
	return cmp.Or(rank(isArchived(a.Path))-rank(isArchived(b.Path)), strings.Compare(segmentOf(b), segmentOf(a)),
		rank(isCompressed(a))-rank(isCompressed(b)), b.Updated.Compare(a.Updated))
}

func segmentOf(e discover.Entry) string {
	name, _ := parseRolloutName(filepath.Base(e.Path))
	return name.segment
}

// addError adds the warning about a path that cannot be read. err may be nil.
func (h *homeScan) addError(path string, err error) {
	if err != nil && !storage.IsNotExist(err) {
		h.Warn(path, fmt.Errorf("left out: %w", storage.WithoutPath(path, err)))
	}
}

// StoreCommand implements [launch.Adapter]. `codex delete` also removes the session's sub-agents; without a terminal it needs
// --force (SEEN 0.169; 0.104 has none of these commands).
func (Adapter) StoreCommand(action launch.StoreAction, s discover.Session, host launch.Environment) (launch.Command, error) {
	p, err := findInstallation(host)
	if err != nil {
		return launch.Command{}, err
	}
	words := map[launch.StoreAction][]string{
		launch.ActionRemove: {"delete", "--force"}, launch.ActionArchive: {"archive"}, launch.ActionUnarchive: {"unarchive"},
	}[action]
	return launch.Command{
		Args: slices.Concat([]string{p.path}, words, []string{s.ID}), Env: slices.Concat(p.env, homeEnv(s, host)), Dir: s.Home,
		Help: []string{p.path, words[0], "--help"}, HelpHas: "codex " + words[0] + " ",
	}, nil
}

// WatchPaths implements [discover.Adapter]. What changes with a thread is its rollout or, before it has one, the directories in which
// the rollout is created. When the process begins another thread, the directory of the locks changes or, in versions without locks,
// today's directory of rollouts.
func (Adapter) WatchPaths(_ context.Context, s discover.Session) []string {
	files := []string{filepath.Join(s.Home, locksDir)}
	around := func(t time.Time) { // directories are named by local time; see [daysOfID]
		for day := -1; day <= 1; day++ {
			files = append(files, filepath.Join(s.Home, sessionsDir, t.AddDate(0, 0, day).Format(dayLayout)))
		}
	}
	around(time.Now())
	if s.Path != "" {
		return append(files, s.Path)
	}
	if t, ok := threadCreated(s.ID); ok {
		around(t)
	}
	return files
}

// MatchesBinary reports whether a binary can be this agent's.
func (Adapter) MatchesBinary(exe string) bool { return mentionsCodex(exe) }

// FilterContent implements [discover.Adapter]. It reads whole rollouts. A word that two parts of one message have only
// together is not found.
func (Adapter) FilterContent(ctx context.Context, entries []discover.Entry, match func([]byte) bool) []discover.Entry {
	return storage.FilterParallel(ctx, entries, func(ctx context.Context, e discover.Entry) bool { return mayMatch(ctx, e.Path, match) })
}

// mayMatch reports whether a rollout may match, cannot be read, or continues another one.
func mayMatch(ctx context.Context, path string, match func([]byte) bool) bool {
	f, g, err := openRollout(ctx, path)
	if err != nil || g.size > 0 {
		return true // the later reading of the messages reports what is left out
	}
	defer f.Close()
	begin, found := true, false
	err = f.Blocks(func(b []byte) bool {
		found = begin && continuesAnother(b) || match(b)
		begin = false
		return !found
	})
	return found || err != nil
}

// continuesAnother reports whether the first record of a rollout says that it continues another one.
func continuesAnother(rollout []byte) bool {
	first, _, _ := bytes.Cut(rollout, []byte("\n"))
	var r rolloutLine
	r.decode(first, "")
	return parseHistoryBase(r.Get("history_base").Object()).ID != ""
}

// errNoRollout is the error of a search that found no rollout.
var errNoRollout = errors.New("no rollout of")

// findRollout finds the rollout whose name ends with this ID, of a thread or of a segment. If it cannot be read, findRollout returns
// its path with the error.
func findRollout(ctx context.Context, home, id string) (string, error) {
	s := newHomeScan(ctx, home)
	if in, ok := daysOfID(id); ok {
		s.walk(in, func(name rolloutName) bool { return cmp.Or(name.segment, name.id) == id })
	}
	if found := s.preferred(); len(found) > 0 {
		return found[0].Path, nil
	}
	for _, err := range s.Warnings {
		if w, ok := errors.AsType[*discover.Warning](err); ok {
			return w.Path, errors.Unwrap(w.Err)
		}
	}
	return "", fmt.Errorf("%w %s", errNoRollout, id)
}
