package claudecode

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
)

// Entries lists the transcripts by name, size and time. A full id is looked up in each project folder without
// listing it, a reference with a path directly.
func (Adapter) Entries(ctx context.Context, homes []discover.Home, q discover.EntryFilter) ([]discover.Entry, error) {
	s := search{ctx: ctx, EntryFilter: q}
	for _, home := range homes {
		if err := ctx.Err(); err != nil {
			return s.found, errors.Join(append(s.warnings, err)...)
		}
		s.home = home.Dir
		s.searchHome(home)
	}
	return s.found, errors.Join(s.warnings...)
}

type search struct {
	ctx context.Context // a search lives as long as one call
	discover.EntryFilter
	home     string
	scratch  *fsread.Buffers // nil: memory of its own
	found    []discover.Entry
	warnings []error
}

func (s *search) warn(path string, err error) { s.warnings = append(s.warnings, warning(path, err)) }

func (s *search) searchHome(home discover.Home) {
	if home.Explicit {
		if _, err := os.Stat(home.Dir); err != nil {
			s.warn(home.Dir, err)
			return
		}
	}
	if s.addSubagents() || s.addRefsWithPath() || !beginsUUID(s.ID) && !s.wantsSubagents() {
		return
	}
	projects, err := openProjects(s.ctx, home.Dir)
	defer projects.close()
	if err != nil {
		s.warnings = append(s.warnings, err)
	}
	switch {
	case len(s.Refs) > 0:
		for _, ref := range s.Refs {
			if ref.Path == "" {
				s.addByID(projects, ref.ID)
			}
		}
	case isUUID(s.ID):
		s.addByID(projects, s.ID)
	default:
		s.listAll(projects)
	}
}

// listAll adds the sessions of all project folders. Several are listed at a time.
func (s *search) listAll(in projects) {
	list := func(folder string, scratch *fsread.Buffers, l *search) (bool, error) {
		room := fsread.Reuse[[]discover.Entry](scratch)
		*l = search{ctx: s.ctx, EntryFilter: s.EntryFilter, home: s.home, scratch: scratch, found: (*room)[:0]}
		l.listBelow(in.dir, folder)
		if s.Subagents {
			l.keepNewestTranscripts()
		}
		*room, l.found = l.found, slices.Clone(l.found)
		return true, nil
	}
	found := [][]discover.Entry{s.found}
	for l, err := range fsread.ReadParallel(s.ctx, in.folders, list) {
		if err != nil {
			s.warnings = append(s.warnings, err)
		}
		found, s.warnings = append(found, l.found), append(s.warnings, l.warnings...)
	}
	s.found = slices.Concat(found...)
}

// addRefsWithPath takes the references that name a file of this home. It reports whether that was all that is asked.
func (s *search) addRefsWithPath() (all bool) {
	all = len(s.Refs) > 0
	for _, ref := range s.Refs {
		if ref.Path == "" {
			all = false
			continue
		}
		dir, name := filepath.Split(newestTranscript(s.ctx, ref.Path))
		if rel, err := filepath.Rel(projectsDir(s.home), ref.Path); err == nil && filepath.IsLocal(rel) {
			s.addPath(filepath.Clean(dir), name)
		}
	}
	return all
}

// addSubagents adds the sub-agents of sessions of this home, and reports whether that was asked. Sub-agents' own lie among
// them. Up to 2.0.x they are beside the transcripts, and only reading tells whose they are.
func (s *search) addSubagents() bool {
	for _, ref := range s.Parents {
		rel, err := filepath.Rel(projectsDir(s.home), ref.Path)
		if err != nil || !filepath.IsLocal(rel) || isSubagent(ref.ID) {
			continue
		}
		before := len(s.found)
		s.list(subagentDir(ref.Path))
		if len(s.found) == before {
			s.list(filepath.Dir(ref.Path))
		}
	}
	return s.Parents != nil
}

// addByID looks for one session in all project folders.
func (s *search) addByID(in projects, id string) {
	if !isUUID(id) {
		return
	}
	for _, hit := range in.find(s.ctx, id) {
		s.addOrWarn(in.path(hit.folder, id), id, "", hit.info, hit.err)
	}
}

// addPath adds one file that may be there.
func (s *search) addPath(dir, name string) {
	path := filepath.Join(dir, name)
	id, parent, ok := sessionOfPath(path)
	if !ok {
		return
	}
	info, err := os.Lstat(path)
	if err != nil {
		s.addOrWarn(path, id, parent, fsread.FileInfo{}, err)
	} else if !info.Mode().IsRegular() {
		s.addOrWarn(path, id, parent, fsread.FileInfo{}, fsread.ErrNotRegular)
	} else {
		s.addOrWarn(path, id, parent, fsread.FileInfo{Size: info.Size(), ModTime: info.ModTime().UTC()}, nil)
	}
}

// addOrWarn adds a file that was looked at, or says why it could not be.
func (s *search) addOrWarn(path, id, parent string, info fsread.FileInfo, err error) {
	switch {
	case fsread.IsNotExist(err):
	case err != nil:
		s.warn(path, cause(err))
	default:
		s.add(path, id, parent, info)
	}
}

// list adds the sessions of a project folder, or of a folder of sub-agents.
func (s *search) list(dir string) {
	d, err := fsread.OpenDir(s.ctx, dir)
	s.listOpened(d, err)
}

// listBelow is list of a folder below an open one.
func (s *search) listBelow(in *fsread.Dir, name string) {
	d, err := in.OpenDir(name)
	s.listOpened(d, err)
}

func (s *search) listOpened(d *fsread.Dir, err error) {
	if err != nil {
		s.warnSkipped(err)
		return
	}
	defer d.Close()
	within := enclosingSubagentDir(d.Path()) != ""
	for n, err := range d.AllEntries(s.scratch) {
		switch {
		case err != nil:
			s.warnSkipped(err)
		case within && n.IsDir():
			s.listBelow(d, n.Name())
		case s.wantsSubagents() && s.Parents == nil && n.IsDir() && isUUID(n.Name()):
			s.listBelow(d, n.Name()+"/"+subagentsName)
		case strings.HasPrefix(n.Name(), s.ID): // as its session's id then does
			s.addListed(d, n)
		}
	}
}

// warnSkipped is a folder that cannot be read and is left out, as the error says that it is.
func (s *search) warnSkipped(err error) {
	if p, ok := errors.AsType[*fs.PathError](err); ok && !fsread.IsNotExist(err) {
		s.warn(p.Path, p.Err)
	}
}

// addListed adds an entry of a folder if it is a session's and asked for.
func (s *search) addListed(d *fsread.Dir, n fsread.DirEntry) {
	id, ok := idOfFile(n.Name())
	if !ok || isSubagent(id) && !s.Subagents || s.Parents != nil && !isSubagent(id) {
		return
	}
	path := d.Path() + "/" + n.Name()
	id = path[len(d.Path())+1:][:len(id)] // of the path, which is kept anyway
	info, err := d.StatEntry(n, !s.WithoutTimes)
	s.addOrWarn(path, id, parentOf(path), info, err)
}

// wantsSubagents reports whether a sub-agent's session can be among those asked for.
func (s *search) wantsSubagents() bool {
	return s.Subagents && (strings.HasPrefix(agentPrefix, s.ID) || strings.HasPrefix(s.ID, agentPrefix))
}

func (s *search) add(path, id, parent string, info fsread.FileInfo) {
	if info.ModTime.Before(s.Since) {
		return
	}
	s.found = append(s.found, discover.Entry{
		Agent: agentName, ID: id, Path: path, Home: s.home,
		Updated: info.ModTime, Size: info.Size, Parent: parent,
	})
}

// cause takes off what a warning says already.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}
