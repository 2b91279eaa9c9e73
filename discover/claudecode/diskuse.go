package claudecode

import (
	"context"
	"io/fs"
	"iter"
	"path/filepath"
	"strings"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// ReadDisk counts a session's transcript, its folder beside that, and whatever the folders of the home have under its ID: file
// history, debug logs, todos, tasks.
func (Adapter) ReadDisk(ctx context.Context, homes []discover.Home, records []discover.Record) iter.Seq2[discover.DiskUse, error] {
	x := diskReader{byPath: map[string]int{}}
	for i, r := range records {
		x.byPath[r.Path] = i
	}
	return discover.CountDisk(ctx, agentName, homes, func(c *discover.DiskCounter) {
		x.DiskCounter = c
		x.readHome(c.Home.Dir, records)
	})
}

// diskReader is one call of ReadDisk.
type diskReader struct {
	*discover.DiskCounter
	byPath map[string]int // the record with this transcript
}

// readHome counts one home. Of several sessions with one ID, the first has what the folders of the home have under it.
func (x *diskReader) readHome(home string, records []discover.Record) {
	byID, byShort := map[string]int{}, map[string]int{}
	for i, r := range records {
		if r.Home != home || r.IsSubagent() || len(r.ID) < jobIDLen {
			continue
		}
		if _, known := byID[r.ID]; !known {
			byID[r.ID] = i
		}
		if _, known := byShort[r.ID[:jobIDLen]]; known {
			i = storage.Nobody
		}
		byShort[r.ID[:jobIDLen]] = i
	}
	x.DiskTree.Home(home, func(name string) bool { return name == projectsName }, func(folder, name string) (int, bool) {
		if folder == "jobs" {
			i, ok := byShort[name]
			return i, ok && i >= 0
		}
		if len(name) < uuidLen {
			return 0, false
		}
		i, ok := byID[name[:uuidLen]]
		return i, ok
	}, x.Add)
	projects := filepath.Join(home, projectsName)
	var rest storage.DiskUse
	rest = rest.Plus(x.Visit(projects, func(e fs.DirEntry, path string, use func() storage.DiskUse) {
		if e.IsDir() && !x.Stopped {
			rest = rest.Plus(x.readProject(path))
		} else {
			rest = rest.Plus(use())
		}
	}))
	x.Add(storage.Nobody, projectsName, projects, rest)
}

// readProject counts a project folder, and returns what belongs to no session.
func (x *diskReader) readProject(dir string) (rest storage.DiskUse) {
	own := x.Visit(dir, func(e fs.DirEntry, path string, use func() storage.DiskUse) {
		if i, ok := x.byPath[path]; ok {
			x.Add(i, "transcript", path, use())
		} else if i, ok := x.byPath[path+transcriptSuffix]; ok && e.IsDir() {
			x.readSessionDir(i, path)
		} else {
			rest = rest.Plus(use())
		}
	})
	return rest.Plus(own)
}

// readSessionDir counts the folder of a session beside its transcript.
func (x *diskReader) readSessionDir(owner int, dir string) {
	own := x.Visit(dir, func(e fs.DirEntry, path string, use func() storage.DiskUse) {
		kind := strings.ReplaceAll(e.Name(), "-", " ")
		if e.Name() == subagentsName {
			kind = subagentsKind
		}
		x.Add(owner, kind, path, use())
	})
	x.Add(owner, "folder", dir, own)
}

// subagentsKind is the kind of sub-agents' files.
const subagentsKind = "sub-agents"
