package claudecode

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native"
)

// Entries lists the transcripts by name, size and time. A full id is looked up in each project folder without
// listing it, a reference with a path directly.
func (Adapter) Entries(ctx context.Context, homes []discover.Home, q discover.Query) ([]discover.Entry, error) {
	s := search{ctx: ctx, Query: q}
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
	discover.Query
	home     string
	found    []discover.Entry
	warnings []error
}

func (s *search) warn(path string, err error) { s.warnings = append(s.warnings, warning(path, err)) }

func (s *search) searchHome(home discover.Home) {
	if home.Named {
		if _, err := os.Stat(home.Dir); err != nil {
			s.warn(home.Dir, err)
			return
		}
	}
	if s.ofParents() || s.byPath() || !beginsUUID(s.ID) && !s.wantsAgents() {
		return
	}
	projects, err := openProjects(home.Dir)
	defer projects.close()
	if err != nil {
		s.warnings = append(s.warnings, err)
	}
	switch {
	case len(s.Refs) > 0:
		for _, ref := range s.Refs {
			if ref.Path == "" {
				s.exact(projects, ref.ID)
			}
		}
	case isUUID(s.ID):
		s.exact(projects, s.ID)
	default:
		s.listAll(projects)
	}
}

// listAll adds the sessions of all project folders, in the order of the folders. Several are listed at a time.
func (s *search) listAll(in projects) {
	type listing struct {
		number int
		search
	}
	numbers := make([]int, len(in.folders))
	for i := range numbers {
		numbers[i] = i
	}
	var all []listing
	for l, err := range native.Each(s.ctx, numbers, func(i int, _ *native.Scratch) (listing, bool, error) {
		l := listing{i, search{ctx: s.ctx, Query: s.Query, home: s.home}}
		l.list(in.dir.Path() + "/" + in.folders[i])
		if s.Children {
			l.newestParts()
		}
		return l, len(l.found)+len(l.warnings) > 0, nil
	}) {
		if err == nil {
			all = append(all, l)
		}
	}
	slices.SortFunc(all, func(a, b listing) int { return cmp.Compare(a.number, b.number) })
	total := 0
	for _, l := range all {
		total += len(l.found)
	}
	s.found = slices.Grow(s.found, total)
	for _, l := range all {
		s.found, s.warnings = append(s.found, l.found...), append(s.warnings, l.warnings...)
	}
}

// byPath takes the references that name a file of this home. It reports whether that was all that is asked.
func (s *search) byPath() (all bool) {
	all = len(s.Refs) > 0
	for _, ref := range s.Refs {
		if ref.Path == "" {
			all = false
			continue
		}
		dir, name := filepath.Split(newestPart(ref.Path))
		if rel, err := filepath.Rel(projectsDir(s.home), ref.Path); err == nil && filepath.IsLocal(rel) {
			s.stat(filepath.Clean(dir), name)
		}
	}
	return all
}

// ofParents adds the sub-agents of sessions of this home, and reports whether that was asked. Sub-agents' own lie among
// them. Up to 2.0.x they are beside the transcripts, and only reading tells whose they are.
func (s *search) ofParents() bool {
	for _, ref := range s.Parents {
		rel, err := filepath.Rel(projectsDir(s.home), ref.Path)
		if err != nil || !filepath.IsLocal(rel) || isSubagent(ref.ID) {
			continue
		}
		before := len(s.found)
		s.list(filepath.Join(strings.TrimSuffix(ref.Path, suffix), subagents))
		if len(s.found) == before {
			s.list(filepath.Dir(ref.Path))
		}
	}
	return s.Parents != nil
}

// exact looks for one session in all project folders.
func (s *search) exact(in projects, id string) {
	if !isUUID(id) {
		return
	}
	for _, hit := range in.find(s.ctx, id) {
		s.take(in.path(hit.folder, id), id, "", hit.info, hit.err)
	}
}

// stat adds one file that may be there.
func (s *search) stat(dir, name string) {
	path := filepath.Join(dir, name)
	id, parent, ok := sessionOf(path)
	if !ok {
		return
	}
	info, err := os.Lstat(path)
	if err != nil {
		s.take(path, id, parent, native.Info{}, err)
	} else if !info.Mode().IsRegular() {
		s.take(path, id, parent, native.Info{}, native.ErrNotRegular)
	} else {
		s.take(path, id, parent, native.Info{Size: info.Size(), ModTime: info.ModTime().UTC()}, nil)
	}
}

// take adds a file that was looked at, or says why it could not be.
func (s *search) take(path, id, parent string, info native.Info, err error) {
	switch {
	case native.Absent(err):
	case err != nil:
		s.warn(path, cause(err))
	default:
		s.add(path, id, parent, info)
	}
}

// list adds the sessions of a project folder, or of a folder of sub-agents.
func (s *search) list(dir string) {
	d, err := native.OpenDir(dir)
	if native.Absent(err) {
		return
	}
	if err != nil {
		s.warn(dir, err)
		return
	}
	defer d.Close()
	names, err := d.Names()
	if err != nil {
		s.warn(dir, err)
	}
	s.found = slices.Grow(s.found, len(names))
	for _, n := range names {
		path := dir + "/" + n.Name()
		if s.wantsAgents() && s.Parents == nil && n.IsDir() && isUUID(n.Name()) {
			s.list(path + "/" + subagents)
			continue
		}
		id, parent, ok := sessionOf(path)
		if !ok || !strings.HasPrefix(id, s.ID) || isSubagent(id) && !s.Children || isUUID(id) && s.Parents != nil {
			continue
		}
		info, err := d.File(n, !s.Untimed)
		s.take(path, id, parent, info, err)
	}
}

// wantsAgents reports whether a sub-agent's session can be among those asked for.
func (s *search) wantsAgents() bool {
	return s.Children && (strings.HasPrefix(agentPrefix, s.ID) || strings.HasPrefix(s.ID, agentPrefix))
}

func (s *search) add(path, id, parent string, info native.Info) {
	if info.ModTime.Before(s.Since) {
		return
	}
	s.found = append(s.found, discover.Entry{
		Agent: discover.ClaudeCode, ID: id, Path: path, Home: s.home,
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

// sessionOf reads a path: the id of the session whose transcript it is, and its parent where the path tells.
func sessionOf(path string) (id, parent string, ok bool) {
	id, ok = strings.CutSuffix(path[strings.LastIndexByte(path, '/')+1:], suffix)
	switch {
	case !ok:
		return "", "", false
	case isUUID(id):
		return id, "", true
	case isSubagent(id) && len(id) > len(agentPrefix):
		if dir := filepath.Dir(path); filepath.Base(dir) == subagents {
			parent = filepath.Base(filepath.Dir(dir))
		}
		return id, parent, true
	}
	return "", "", false
}
