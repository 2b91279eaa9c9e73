package claudecode

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// Entries lists the transcripts with their names, sizes and times. It looks up a full ID in each project folder without
// listing it, and a reference with a path directly.
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
	folders, err := projectFolders(s.ctx, home.Dir)
	if err != nil {
		s.warnings = append(s.warnings, err)
	}
	switch {
	case len(s.Refs) > 0:
		for _, ref := range s.Refs {
			if ref.Path == "" {
				s.addByID(folders, ref.ID)
			}
		}
	case isUUID(s.ID):
		s.addByID(folders, s.ID)
	default:
		s.listAll(folders)
	}
}

// listAll adds the sessions of all project folders, which are listed in parallel.
func (s *search) listAll(folders []string) {
	list := func(ctx context.Context, folder string, l *search) (bool, error) {
		*l = search{ctx: ctx, EntryFilter: s.EntryFilter, home: s.home}
		l.list(folder)
		return true, nil
	}
	found := [][]discover.Entry{s.found}
	for l, err := range storage.ReadParallel(s.ctx, folders, list) {
		if err != nil {
			s.warnings = append(s.warnings, err)
		}
		found, s.warnings = append(found, l.found), append(s.warnings, l.warnings...)
	}
	s.found = slices.Concat(found...)
}

// addRefsWithPath adds the references with a path in this home. It reports whether nothing else is asked for.
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

// addSubagents adds the sub-agents of the sessions in s.Parents that are in this home, and reports whether these are asked
// for. Sub-agents of sub-agents are among them. Up to 2.0.x they are beside the transcripts, and only reading tells whose
// they are.
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

// addByID adds the transcripts of one session in all project folders.
func (s *search) addByID(folders []string, id string) {
	if !isUUID(id) {
		return
	}
	for _, folder := range folders {
		s.addPath(folder, id+transcriptSuffix)
	}
}

// addPath adds one file, which may be missing.
func (s *search) addPath(dir, name string) {
	id, ok := idOfFile(name)
	if !ok {
		return
	}
	path := filepath.Join(dir, name)
	info, err := storage.Stat(s.ctx, path)
	s.add(path, id, info, err)
}

// add adds a file, or a warning if err says why it could not be read.
func (s *search) add(path, id string, info storage.FileInfo, err error) {
	switch {
	case storage.IsNotExist(err), err == nil && info.ModTime.Before(s.Since):
	case err != nil:
		s.warn(path, err)
	default:
		s.found = append(s.found, discover.Entry{
			Agent: agentName, ID: id, Path: path, Home: s.home, Updated: info.ModTime, Size: info.Size, Parent: parentOf(path),
		})
	}
}

// list adds the sessions of a project folder, or of a folder of sub-agents.
func (s *search) list(dir string) {
	d, err := storage.OpenDir(s.ctx, dir)
	if err != nil {
		s.warnSkipped(err)
		return
	}
	defer d.Close()
	within := enclosingSubagentDir(d.Path()) != ""
	entries, err := d.Entries()
	if err != nil {
		s.warnSkipped(err)
	}
	for _, n := range entries {
		switch {
		case within && n.IsDir():
			s.list(d.Path() + "/" + n.Name())
		case s.wantsSubagents() && s.Parents == nil && n.IsDir() && isUUID(n.Name()):
			s.list(d.Path() + "/" + n.Name() + "/" + subagentsName)
		case strings.HasPrefix(n.Name(), s.ID): // the name of a transcript begins with its session's ID
			s.addListed(d, n)
		}
	}
}

// warnSkipped warns that the folder in the error is left out.
func (s *search) warnSkipped(err error) {
	if p, ok := errors.AsType[*fs.PathError](err); ok && !storage.IsNotExist(err) {
		s.warn(p.Path, p.Err)
	}
}

// addListed adds a file of a folder if it is a transcript and asked for.
func (s *search) addListed(d *storage.Dir, n fs.DirEntry) {
	id, ok := idOfFile(n.Name())
	if !ok || isSubagent(id) && !s.Subagents || s.Parents != nil && !isSubagent(id) {
		return
	}
	path := d.Path() + "/" + n.Name()
	id = path[len(d.Path())+1:][:len(id)] // a part of path shares its memory
	info, err := d.Stat(n.Name())
	s.add(path, id, info, err)
}

// wantsSubagents reports whether sub-agents can be among the sessions asked for.
func (s *search) wantsSubagents() bool {
	return s.Subagents && (strings.HasPrefix(agentPrefix, s.ID) || strings.HasPrefix(s.ID, agentPrefix))
}

// FilterContent implements [discover.Adapter]. It reads whole transcripts. A prompt with pasted text joins strings.
func (Adapter) FilterContent(ctx context.Context, entries []discover.Entry, match func([]byte) bool) []discover.Entry {
	return discover.FilterFiles(ctx, entries, func(b []byte) bool { return match(b) || bytes.Contains(b, []byte(pasteTag)) })
}

// WatchPaths returns the paths that change with a session: its transcript; the project folder, where another session may
// begin; the folders of its sub-agents; a sub-agent's metadata, which records its end; the file of its team; and the registry entries of its
// processes.
func (Adapter) WatchPaths(ctx context.Context, s discover.Session) []string {
	transcript := cmp.Or(s.Path, transcriptPath(s.Home, s.Dir, s.ID))
	files := []string{transcript, filepath.Dir(transcript)}
	if base := strings.TrimSuffix(transcript, transcriptSuffix); isSubagent(s.ID) {
		files = append(files, base+metaSuffix)
	} else {
		_, folders, _ := listSubagentFiles(ctx, transcript) // unreadable folders are skipped
		files = append(files, folders...)
	}
	if filepath.IsLocal(s.Team) {
		files = append(files, filepath.Join(s.ProcessHome(), teamsName, s.Team, teamConfig))
	}
	for _, p := range s.Processes {
		files = append(files, registryPath(s.ProcessHome(), p.NamespacePID()))
	}
	return files
}
