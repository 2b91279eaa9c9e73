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
	"agentctl/discover/native"
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
		s := scan{ctx: ctx, home: h.Dir, since: q.Since, timed: !q.WithoutTimes}
		if s.open(h.Named) {
			s.query(q)
		}
		found, errs = discover.AppendEntries(found, s.found), append(errs, s.errs...)
	}
	if err := ctx.Err(); err != nil {
		errs = append(errs, err)
	}
	return found, errors.Join(errs...)
}

// scan looks through one home.
type scan struct {
	ctx   context.Context // a scan lives as long as one call
	home  string
	since time.Time
	timed bool // the entries' times and sizes are asked for
	every bool // all rollouts of a thread are asked for, not the best one
	found []discover.Entry
	index map[string]int // into found, by id
	errs  []error

	scratch native.Buffers
}

// open reports whether there is a home to look at.
func (s *scan) open(named bool) bool {
	d, err := native.OpenDir(s.ctx, s.home)
	switch {
	case err == nil:
		_ = d.Close()
		return true
	case named || !native.Absent(err):
		s.errs = append(s.errs, warn(s.home, err))
	}
	return false
}

func (s *scan) query(q discover.EntryFilter) {
	switch {
	case q.Parents != nil:
		for _, ref := range q.Parents {
			s.begunWith(ref)
		}
	case q.Refs != nil:
		for _, ref := range q.Refs {
			s.ref(ref)
		}
	case q.ID == "":
		s.walk(days{}, func(rolloutName) bool { return true })
	case !native.BeginsUUID(q.ID, false): // another agent's
	default:
		match := func(name rolloutName) bool { return strings.HasPrefix(name.id, q.ID) }
		if near, ok := daysOf(q.ID); ok {
			s.near(near, match)
		}
		if len(s.found) == 0 { // an id of another kind, or a file that someone moved
			s.walk(days{}, match)
		}
	}
}

// begunWith lists the threads that were begun while this one was at work: its sub-agents', and others. An id tells when
// that was. A sub-agent may go on when the thread it works for has ended, and begin others.
func (s *scan) begunWith(ref discover.Ref) {
	const grace = 24 * time.Hour
	first, ok := born(ref.ID)
	info, err := os.Stat(ref.Path)
	if s.owns(ref.Path) && ok && err == nil {
		s.begun(first, info.ModTime().Add(grace), func(id string) bool { return id != ref.ID })
	}
}

// begun lists the threads whose ids match accepts and tell that they were begun between two moments, in their folders and
// where a thread goes on whose prompt was edited up to a month later.
func (s *scan) begun(first, last time.Time, match func(id string) bool) {
	in := days{first.UTC().AddDate(0, 0, -1).Format(dayLayout), last.UTC().AddDate(0, 1, 0).Format(dayLayout)}
	s.walk(in, func(name rolloutName) bool {
		at, ok := born(name.id)
		return ok && !at.Before(first) && !at.After(last) && match(name.id)
	})
}

// ref looks up one session. One that is not in its date folder is not searched for: a thread that a process has just
// begun has no file yet, which must not cost a scan each time.
func (s *scan) ref(ref discover.Ref) {
	if ref.Path != "" && !s.owns(ref.Path) || s.direct(ref) {
		return
	}
	near, _ := daysOf(ref.ID)
	s.near(near, func(name rolloutName) bool { return name.id == ref.ID })
}

// near lists the rollouts whose names match accepts where threads made on these days are, and where those are that went on
// with an edited prompt: in the folders of the days after the older file was last written. They are searched for a month,
// since each folder costs as much as reading a session.
func (s *scan) near(in days, match func(rolloutName) bool) {
	before := len(s.found)
	s.walk(in, match)
	for _, e := range s.found[before:] {
		last := changed(e)
		after := days{last.AddDate(0, 0, -1).Format(dayLayout), last.AddDate(0, 1, 0).Format(dayLayout)}
		s.dir(filepath.Join(s.home, sessionsDir), "", 0, after, match)
	}
}

// owns reports whether a rollout's path lies in this home.
func (s *scan) owns(path string) bool {
	return strings.HasPrefix(path, filepath.Join(s.home, sessionsDir)+"/") ||
		strings.HasPrefix(path, filepath.Join(s.home, archiveDir)+"/")
}

// direct finds a session by its file.
func (s *scan) direct(ref discover.Ref) bool {
	name, ok := parseRollout(filepath.Base(ref.Path))
	if !ok || name.id != ref.ID {
		return false
	}
	d, err := native.OpenDir(s.ctx, filepath.Dir(ref.Path))
	if err != nil {
		return false
	}
	defer d.Close()
	before := len(s.found)
	file := filepath.Base(ref.Path)
	info, err := d.Stat(file)
	s.file(d.Path()+"/"+file, name.id, info, err)
	return len(s.found) > before
}

// walk lists the rollouts whose names match accepts in the archive and in the date folders of the range.
func (s *scan) walk(in days, match func(rolloutName) bool) {
	s.dir(filepath.Join(s.home, archiveDir), "", len("YMD"), in, match)
	s.dir(filepath.Join(s.home, sessionsDir), "", 0, in, match)
}

// dir lists one folder; depth counts the levels of date folders above it.
func (s *scan) dir(path, date string, depth int, in days, match func(rolloutName) bool) {
	if s.ctx.Err() != nil {
		return
	}
	d, err := native.OpenDir(s.ctx, path)
	if err != nil {
		s.fail(path, err)
		return
	}
	defer d.Close()
	for n, err := range d.All(&s.scratch) {
		if err != nil {
			s.fail(path, err)
			return
		}
		name := n.Name()
		if depth == len("YMD") {
			if r, ok := parseRollout(name); ok && match(r) {
				info, err := d.File(n, s.timed)
				s.file(path+"/"+name, r.id, info, err)
			}
			continue
		}
		if folder := filepath.Join(date, name); isNumber(name) && in.has(folder) {
			s.dir(filepath.Join(path, name), folder, depth+1, in, match)
		}
	}
}

func isNumber(name string) bool {
	return len(name) > 0 && strings.Trim(name, "0123456789") == ""
}

// file adds a rollout, unless a better file of the same thread is known.
func (s *scan) file(path, id string, info native.Info, err error) {
	if err != nil {
		s.fail(path, err)
		return
	}
	if info.ModTime.Before(s.since) {
		return
	}
	e := discover.Entry{
		Agent: agentName, ID: id, Path: path, Home: s.home, Updated: info.ModTime, Size: info.Size,
	}
	if i, ok := s.index[id]; ok && !s.every {
		if better(e, s.found[i]) {
			s.found[i] = e
		}
		return
	}
	if s.index == nil {
		s.index = map[string]int{}
	}
	s.index[id] = len(s.found)
	s.found = discover.AppendEntry(s.found, e)
}

// better reports whether a is the file to read of a thread that has two: Codex itself reads the plain one beside a
// compressed one, and an archived thread that is back lies among the others. Of the rollouts that edited prompts have
// begun, the last one counts; their ids tell when they were.
func better(a, b discover.Entry) bool {
	switch x, y := isArchived(a.Path), isArchived(b.Path); {
	case x != y:
		return y
	case segmentOf(a) != segmentOf(b):
		return segmentOf(a) > segmentOf(b)
	case strings.HasSuffix(a.Path, packedExt) != strings.HasSuffix(b.Path, packedExt):
		return strings.HasSuffix(b.Path, packedExt)
	}
	return changed(a).After(changed(b))
}

func segmentOf(e discover.Entry) string {
	name, _ := parseRollout(filepath.Base(e.Path))
	return name.segment
}

// changed is when an entry's file last changed, looked up if that was not asked for.
func changed(e discover.Entry) time.Time {
	if e.Updated.IsZero() {
		if info, err := os.Lstat(e.Path); err == nil {
			return info.ModTime()
		}
	}
	return e.Updated
}

func (s *scan) fail(path string, err error) {
	if !native.Absent(err) {
		s.errs = append(s.errs, warn(path, fmt.Errorf("left out: %w", native.Cause(path, err))))
	}
}
