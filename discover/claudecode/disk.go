package claudecode

import (
	"context"
	"io/fs"
	"iter"
	"path/filepath"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native/diskusage"
)

// ReadDisk counts a session's transcript, its folder beside that, and whatever the folders of the home have under its ID: file
// history, debug logs, todos, tasks.
func (Adapter) ReadDisk(ctx context.Context, homes []discover.Home, records []discover.Record) iter.Seq2[discover.DiskUse, error] {
	return func(yield func(discover.DiskUse, error) bool) {
		x := diskReader{ctx: ctx, yield: yield, byPath: map[string]int{}}
		x.tree = diskusage.NewTree(ctx, func(path string, err error) { x.emit(discover.DiskUse{}, asWarning(path, err)) })
		for i, r := range records {
			x.byPath[r.Path] = i
		}
		for _, h := range homes {
			x.readHome(h.Dir, records)
		}
	}
}

// diskReader is one call of ReadDisk.
type diskReader struct {
	ctx     context.Context // of the call
	yield   func(discover.DiskUse, error) bool
	stopped bool
	tree    *diskusage.Tree
	byPath  map[string]int // the record with this transcript
	home    string
}

func (x *diskReader) emit(u discover.DiskUse, err error) {
	x.stopped = x.stopped || !x.yield(u, err)
}

func (x *diskReader) add(owner int, kind, path string, u diskusage.Use) {
	if !x.stopped && u != (diskusage.Use{}) {
		x.emit(discover.DiskUse{Owner: owner, Home: x.home, Path: path, Kind: kind, Bytes: u.Bytes, Files: u.Files}, nil)
	}
}

// readHome counts one home. Of several sessions with one ID, the first has what the folders of the home have under it.
func (x *diskReader) readHome(home string, records []discover.Record) {
	x.home = home
	byID, byShort := map[string]int{}, map[string]int{}
	for i, r := range records {
		if r.Home != home || r.IsSubagent() || len(r.ID) < jobIDLen {
			continue
		}
		if _, known := byID[r.ID]; !known {
			byID[r.ID] = i
		}
		if _, known := byShort[r.ID[:jobIDLen]]; known {
			i = diskusage.Nobody
		}
		byShort[r.ID[:jobIDLen]] = i
	}
	x.tree.Home(home, func(name string) bool { return name == projectsName }, func(folder, name string) (int, bool) {
		if folder == "jobs" {
			i, ok := byShort[name]
			return i, ok && i >= 0
		}
		if len(name) < uuidLen {
			return 0, false
		}
		i, ok := byID[name[:uuidLen]]
		return i, ok
	}, x.add)
	projects := filepath.Join(home, projectsName)
	var rest diskusage.Use
	rest = rest.Plus(x.tree.Visit(projects, func(e fs.DirEntry, path string, use func() diskusage.Use) {
		if e.IsDir() && !x.stopped {
			rest = rest.Plus(x.readProject(path))
		} else {
			rest = rest.Plus(use())
		}
	}))
	x.add(diskusage.Nobody, projectsName, projects, rest)
}

// readProject counts a project folder, and returns what belongs to no session.
func (x *diskReader) readProject(dir string) (rest diskusage.Use) {
	contents := listProject(x.ctx, dir)
	parents := map[string]int{} // of sub-agents up to 2.0.x, by path
	for session, paths := range contents.subagents {
		if i, ok := x.byPath[filepath.Join(dir, session+transcriptSuffix)]; ok {
			for _, path := range paths {
				parents[path] = i
			}
		}
	}
	own := x.tree.Visit(dir, func(e fs.DirEntry, path string, use func() diskusage.Use) {
		if i, ok := parents[path]; ok {
			x.add(i, subagentsKind, path, use())
		} else if i, ok := x.byPath[path]; ok {
			x.add(i, "transcript", path, use())
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
	own := x.tree.Visit(dir, func(e fs.DirEntry, path string, use func() diskusage.Use) {
		kind := strings.ReplaceAll(e.Name(), "-", " ")
		if e.Name() == subagentsName {
			kind = subagentsKind
		}
		x.add(owner, kind, path, use())
	})
	x.add(owner, "folder", dir, own)
}

// subagentsKind is the kind of sub-agents' files.
const subagentsKind = "sub-agents"
