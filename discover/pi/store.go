package pi

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// sessionsName is the folder of a home that has the sessions: those of a working directory in a folder of their own or, if the user has made
// it the session directory, all in itself.
const sessionsName = "sessions"

// fileName is what the name of a session's file says: 2026-11-26T13-21-24-898Z_ID.jsonl.
type fileName struct {
	id string
	// made is when the session was made: at the start of its process, or by /new. The file is written with the first prompt.
	made time.Time
}

func parseFileName(name string) (n fileName, ok bool) {
	const layout, milliseconds, separator = "2006-01-02T15-04-05", "-000", "Z_"
	const idAt = len(layout + milliseconds + separator)
	name, isSession := strings.CutSuffix(name, ".jsonl")
	if !isSession || len(name) <= idAt || name[idAt-len(separator):idAt] != separator || name[len(layout)] != '-' {
		return n, false
	}
	made, err := time.Parse(layout+".000", name[:len(layout)]+"."+name[len(layout)+1:idAt-len(separator)])
	if err != nil || !isSessionID(name[idAt:]) {
		return n, false
	}
	return fileName{name[idAt:], made}, true
}

// isSessionID reports whether Pi accepts an ID: letters, digits and, but for the ends, dots, dashes and underscores (READ 1.5.2).
func isSessionID(id string) bool {
	const marks = "._-"
	for i := range len(id) {
		c := id[i] | 0x20
		isInner := strings.IndexByte(marks, id[i]) >= 0 && i > 0 && i < len(id)-1
		if !('a' <= c && c <= 'z' || '0' <= id[i] && id[i] <= '9' || isInner) {
			return false
		}
	}
	return id != ""
}

// Entries lists the session files by name and time. One ID may be in several folders: Pi looks for it in that of one directory only.
func (Adapter) Entries(ctx context.Context, homes []discover.Home, filter discover.EntryFilter) ([]discover.Entry, error) {
	s := search{ctx: ctx, filter: filter, EntryList: discover.EntryList{Agent: agentName, Since: filter.Since}}
	for _, h := range homes {
		if filter.Parents == nil { // there are no sub-agents
			s.searchHome(h.Dir)
		}
	}
	return s.Found, errors.Join(append(s.Warnings, ctx.Err())...)
}

type search struct {
	ctx    context.Context // of the call that the search lives for
	filter discover.EntryFilter
	discover.EntryList
}

func (s *search) searchHome(home string) {
	s.Home = home
	if s.filter.Refs != nil && !slices.ContainsFunc(s.filter.Refs, func(r discover.Ref) bool { return r.Path == "" }) {
		for _, ref := range s.filter.Refs {
			if discover.Within(ref.Path, home) && idOfFile(ref.Path) == ref.ID {
				s.add(ref.ID, ref.Path)
			}
		}
		return
	}
	s.list(home) // it may be a session directory
	for _, folder := range s.list(filepath.Join(home, sessionsName)) {
		s.list(folder)
	}
}

func (s *search) add(id, path string) {
	info, err := storage.Stat(s.ctx, path)
	s.Add(discover.Entry{ID: id, Path: path}, info, err)
}

// list adds the sessions of a folder that the filter asks for. It returns the folders in it.
func (s *search) list(dir string) (folders []string) {
	entries, err := storage.ReadDir(s.ctx, dir)
	s.Warn(dir, err)
	for _, e := range entries {
		name, ok := parseFileName(e.Name())
		path := filepath.Join(dir, e.Name())
		switch {
		case s.ctx.Err() != nil:
			return nil
		case ok:
			if s.wants(name.id, path) {
				s.add(name.id, path)
			}
		case e.IsDir() || e.Type() == fs.ModeSymlink:
			folders = append(folders, path)
		}
	}
	return folders
}

func (s *search) wants(id, path string) bool {
	named := s.filter.Refs == nil || slices.Contains(s.filter.Refs, discover.Ref{ID: id}) || slices.Contains(s.filter.Refs, discover.Ref{ID: id, Path: path})
	return named && strings.HasPrefix(id, s.filter.ID)
}

// WatchPaths returns the session's file, and the folders in which the next session of its directory may appear.
func (Adapter) WatchPaths(_ context.Context, s discover.Session) []string {
	folders := []string{folderOf(s.ProcessHome(), s.Dir), s.ProcessHome()}
	if s.Path == "" {
		return folders
	}
	return append(folders, s.Path, filepath.Dir(s.Path))
}

// folderOf returns the folder of a home that has the sessions of a directory. Several directories may have one.
func folderOf(home, dir string) string {
	name := strings.NewReplacer("/", "-", `\`, "-", ":", "-").Replace(strings.TrimPrefix(dir, "/"))
	return filepath.Join(home, sessionsName, "--"+name+"--")
}
