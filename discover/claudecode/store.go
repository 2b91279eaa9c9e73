package claudecode

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// Entries lists the transcripts with their names, sizes and times. It looks up a full ID in each project folder without
// listing it, and a reference with a path directly.
func (Adapter) Entries(ctx context.Context, homes []discover.Home, q discover.EntryFilter) ([]discover.Entry, error) {
	s := newSearch(ctx, q, "")
	for _, home := range homes {
		if err := ctx.Err(); err != nil {
			return s.Found, errors.Join(append(s.Warnings, err)...)
		}
		s.Home = home.Dir
		s.searchHome()
	}
	return s.Found, errors.Join(s.Warnings...)
}

type search struct {
	ctx context.Context // a search lives as long as one call
	discover.EntryFilter
	discover.EntryList
}

func newSearch(ctx context.Context, filter discover.EntryFilter, home string) search {
	return search{ctx, filter, discover.EntryList{Agent: agentName, Home: home, Since: filter.Since}}
}

func (s *search) searchHome() {
	if s.addSubagents() || s.addRefsWithPath() || !storage.IsUUIDPrefix(s.ID, true) && !s.wantsSubagents() {
		return
	}
	folders, err := projectFolders(s.ctx, s.Home)
	s.Warnings = append(s.Warnings, err)
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
	list := func(ctx context.Context, folder string, part *search) (bool, error) {
		*part = newSearch(ctx, s.EntryFilter, s.Home)
		part.list(folder)
		return true, nil
	}
	found := [][]discover.Entry{s.Found}
	for part, err := range storage.ReadParallel(s.ctx, folders, list) {
		found, s.Warnings = append(found, part.Found), append(append(s.Warnings, err), part.Warnings...)
	}
	s.Found = slices.Concat(found...)
}

// addRefsWithPath adds the references with a path in this home. It reports whether nothing else is asked for.
func (s *search) addRefsWithPath() (all bool) {
	all = len(s.Refs) > 0
	for _, ref := range s.Refs {
		if ref.Path == "" {
			all = false
			continue
		}
		if discover.Within(ref.Path, projectsDir(s.Home)) {
			newest := newestTranscript(s.ctx, ref.Path)
			s.addPath(filepath.Dir(newest), filepath.Base(newest))
		}
	}
	return all
}

// addSubagents adds the sub-agents of the sessions in s.Parents that are in this home, and reports whether these are asked
// for. Sub-agents of sub-agents are among them. Up to 2.0.x they are beside the transcripts, and only reading tells whose
// they are.
func (s *search) addSubagents() bool {
	for _, ref := range s.Parents {
		if !discover.Within(ref.Path, projectsDir(s.Home)) || isSubagent(ref.ID) {
			continue
		}
		before := len(s.Found)
		s.list(subagentDir(ref.Path))
		if len(s.Found) == before {
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

// addPath adds one file, if it is a transcript; it may be missing.
func (s *search) addPath(dir, name string) {
	id, ok := idOfFile(name)
	if !ok {
		return
	}
	path := filepath.Join(dir, name)
	info, err := storage.Stat(s.ctx, path)
	s.Add(discover.Entry{ID: id, Path: path, Parent: parentOf(path)}, info, err)
}

// list adds the sessions of a project folder, or of a folder of sub-agents.
func (s *search) list(dir string) {
	entries, err := storage.ReadDir(s.ctx, dir)
	s.Warn(dir, err)
	within := enclosingSubagentDir(dir) != ""
	for _, n := range entries {
		name := n.Name()
		switch {
		case within && n.IsDir():
			s.list(dir + "/" + name)
		case s.wantsSubagents() && s.Parents == nil && n.IsDir() && isUUID(name):
			s.list(dir + "/" + name + "/" + subagentsName)
		case isSubagent(name) && !s.Subagents, !isSubagent(name) && s.Parents != nil:
		case strings.HasPrefix(name, s.ID): // the name of a transcript begins with its session's ID
			s.addPath(dir, name)
		}
	}
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
