package codex

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/codex/transcript"
	"agentctl/discover/native"
	"agentctl/discover/native/fsread"
)

// Entries lists the rollouts of the homes by name and time. An id tells the day it was made, so a full id is looked up
// in three date folders and the archive. Without one every date folder is listed: a thread that is resumed stays in
// the folder of the day it began, so only a file's own time tells its age.
func (Adapter) Entries(ctx context.Context, homes []discover.Home, q discover.EntryFilter) ([]discover.Entry, error) {
	var (
		found []discover.Entry
		errs  []error
	)
	for _, h := range homes {
		s := homeScan{ctx: ctx, home: h.Dir, since: q.Since, withTimes: !q.WithoutTimes}
		if s.exists(h.Explicit) {
			s.list(q)
		}
		found, errs = discover.AppendEntries(found, s.found), append(errs, s.errs...)
	}
	if err := ctx.Err(); err != nil {
		errs = append(errs, err)
	}
	return found, errors.Join(errs...)
}

// homeScan looks through one home.
type homeScan struct {
	ctx         context.Context // a scan lives as long as one call
	home        string
	since       time.Time
	withTimes   bool // the entries' times and sizes are asked for
	allRollouts bool // all rollouts of a thread are asked for, not the best one
	found       []discover.Entry
	byID        map[string]int // into found, by id
	errs        []error

	buffers fsread.Buffers
}

// exists reports whether there is a home to look at.
func (s *homeScan) exists(named bool) bool {
	d, err := fsread.OpenDir(s.ctx, s.home)
	switch {
	case err == nil:
		_ = d.Close()
		return true
	case named || !fsread.IsNotExist(err):
		s.errs = append(s.errs, warn(s.home, err))
	}
	return false
}

func (s *homeScan) list(q discover.EntryFilter) {
	switch {
	case q.Parents != nil:
		for _, ref := range q.Parents {
			s.listSubagentCandidates(ref)
		}
	case q.Refs != nil:
		for _, ref := range q.Refs {
			s.findRef(ref)
		}
	case q.ID == "":
		s.walk(dayRange{}, func(rolloutName) bool { return true })
	case !native.IsUUIDPrefix(q.ID, false): // another agent's
	default:
		match := func(name rolloutName) bool { return strings.HasPrefix(name.id, q.ID) }
		if near, ok := daysOfID(q.ID); ok {
			s.listDays(near, match)
		}
		if len(s.found) == 0 { // an id of another kind, or a file that someone moved
			s.walk(dayRange{}, match)
		}
	}
}

// listSubagentCandidates lists the threads that were begun while this one was at work: its sub-agents', and others. An id tells when
// that was. A sub-agent may go on when the thread it works for has ended, and begin others.
func (s *homeScan) listSubagentCandidates(ref discover.Ref) {
	const grace = 24 * time.Hour
	first, ok := transcript.ThreadCreated(ref.ID)
	info, err := os.Stat(ref.Path)
	if s.contains(ref.Path) && ok && err == nil {
		s.listCreated(first, info.ModTime().Add(grace), func(id string) bool { return id != ref.ID })
	}
}

// listCreated lists the threads whose ids match accepts and tell that they were begun between two moments, in their folders and
// where a thread goes on whose prompt was edited up to a month later.
func (s *homeScan) listCreated(first, last time.Time, match func(id string) bool) {
	in := dayRange{first.UTC().AddDate(0, 0, -1).Format(dayLayout), last.UTC().AddDate(0, 1, 0).Format(dayLayout)}
	s.walk(in, func(name rolloutName) bool {
		at, ok := transcript.ThreadCreated(name.id)
		return ok && !at.Before(first) && !at.After(last) && match(name.id)
	})
}

// findRef looks up one session. One that is not in its date folder is not searched for: a thread that a process has just
// begun has no file yet, which must not cost a scan each time.
func (s *homeScan) findRef(ref discover.Ref) {
	if ref.Path != "" && !s.contains(ref.Path) || s.findPath(ref) {
		return
	}
	near, _ := daysOfID(ref.ID)
	s.listDays(near, func(name rolloutName) bool { return name.id == ref.ID })
}

// listDays lists the rollouts whose names match accepts where threads made on these days are, and where those are that went on
// with an edited prompt: in the folders of the days after the older file was last written. They are searched for a month,
// since each folder costs as much as reading a session.
func (s *homeScan) listDays(in dayRange, match func(rolloutName) bool) {
	before := len(s.found)
	s.walk(in, match)
	for _, e := range s.found[before:] {
		last := modTime(e)
		after := dayRange{last.AddDate(0, 0, -1).Format(dayLayout), last.AddDate(0, 1, 0).Format(dayLayout)}
		s.walkDir(filepath.Join(s.home, sessionsDir), "", 0, after, match)
	}
}

// contains reports whether a rollout's path lies in this home.
func (s *homeScan) contains(path string) bool {
	return strings.HasPrefix(path, filepath.Join(s.home, sessionsDir)+"/") ||
		strings.HasPrefix(path, filepath.Join(s.home, archiveDir)+"/")
}

// findPath finds a session by its file.
func (s *homeScan) findPath(ref discover.Ref) bool {
	name, ok := parseRolloutName(filepath.Base(ref.Path))
	if !ok || name.id != ref.ID {
		return false
	}
	d, err := fsread.OpenDir(s.ctx, filepath.Dir(ref.Path))
	if err != nil {
		return false
	}
	defer d.Close()
	before := len(s.found)
	file := filepath.Base(ref.Path)
	info, err := d.Stat(file)
	s.addFile(d.Path()+"/"+file, name.id, info, err)
	return len(s.found) > before
}

// walk lists the rollouts whose names match accepts in the archive and in the date folders of the range.
func (s *homeScan) walk(in dayRange, match func(rolloutName) bool) {
	s.walkDir(filepath.Join(s.home, archiveDir), "", len("YMD"), in, match)
	s.walkDir(filepath.Join(s.home, sessionsDir), "", 0, in, match)
}

// walkDir lists one folder; depth counts the levels of date folders above it.
func (s *homeScan) walkDir(path, date string, depth int, in dayRange, match func(rolloutName) bool) {
	if s.ctx.Err() != nil {
		return
	}
	d, err := fsread.OpenDir(s.ctx, path)
	if err != nil {
		s.addError(path, err)
		return
	}
	defer d.Close()
	for n, err := range d.AllEntries(&s.buffers) {
		if err != nil {
			s.addError(path, err)
			return
		}
		name := n.Name()
		if depth == len("YMD") {
			if r, ok := parseRolloutName(name); ok && match(r) {
				info, err := d.StatEntry(n, s.withTimes)
				s.addFile(path+"/"+name, r.id, info, err)
			}
			continue
		}
		if folder := filepath.Join(date, name); isNumber(name) && in.contains(folder) {
			s.walkDir(filepath.Join(path, name), folder, depth+1, in, match)
		}
	}
}

func isNumber(name string) bool {
	return len(name) > 0 && strings.Trim(name, "0123456789") == ""
}

// addFile adds a rollout, unless a better file of the same thread is known.
func (s *homeScan) addFile(path, id string, info fsread.FileInfo, err error) {
	if err != nil {
		s.addError(path, err)
		return
	}
	if info.ModTime.Before(s.since) {
		return
	}
	e := discover.Entry{
		Agent: agentName, ID: id, Path: path, Home: s.home, Updated: info.ModTime, Size: info.Size,
	}
	if i, ok := s.byID[id]; ok && !s.allRollouts {
		if preferred(e, s.found[i]) {
			s.found[i] = e
		}
		return
	}
	if s.byID == nil {
		s.byID = map[string]int{}
	}
	s.byID[id] = len(s.found)
	s.found = discover.AppendEntry(s.found, e)
}

// preferred reports whether a is the file to read of a thread that has two: Codex itself reads the plain one beside a
// compressed one, and an archived thread that is back lies among the others. Of the rollouts that edited prompts have
// begun, the last one counts; their ids tell when they were.
func preferred(a, b discover.Entry) bool {
	switch x, y := isArchived(a.Path), isArchived(b.Path); {
	case x != y:
		return y
	case segmentOf(a) != segmentOf(b):
		return segmentOf(a) > segmentOf(b)
	case strings.HasSuffix(a.Path, compressedExt) != strings.HasSuffix(b.Path, compressedExt):
		return strings.HasSuffix(b.Path, compressedExt)
	}
	return modTime(a).After(modTime(b))
}

func segmentOf(e discover.Entry) string {
	name, _ := parseRolloutName(filepath.Base(e.Path))
	return name.segment
}

// modTime is when an entry's file last changed, looked up if that was not asked for.
func modTime(e discover.Entry) time.Time {
	if e.Updated.IsZero() {
		if info, err := os.Lstat(e.Path); err == nil {
			return info.ModTime()
		}
	}
	return e.Updated
}

func (s *homeScan) addError(path string, err error) {
	if !fsread.IsNotExist(err) {
		s.errs = append(s.errs, warn(path, fmt.Errorf("left out: %w", fsread.WithoutPath(path, err))))
	}
}
