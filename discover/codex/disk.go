package codex

import (
	"context"
	"io/fs"
	"iter"
	"path/filepath"

	"agentctl/discover"
	"agentctl/discover/native/diskusage"
)

// ReadDisk counts all rollouts of a thread, and whatever the folders of the home have under its ID, such as shell snapshots. The
// databases are nobody's: they have logs and indexes of all threads.
func (Adapter) ReadDisk(ctx context.Context, homes []discover.Home, records []discover.Record) iter.Seq2[discover.DiskUse, error] {
	return func(yield func(discover.DiskUse, error) bool) {
		x := diskReader{yield: yield}
		x.tree = diskusage.NewTree(ctx, func(path string, err error) { x.emit(discover.DiskUse{}, warn(path, err)) })
		for _, h := range homes {
			x.home, x.byID = h.Dir, map[string]int{}
			for i, r := range records {
				if r.Home == h.Dir {
					x.byID[r.ID] = i
				}
			}
			if x.read(); x.stopped {
				return
			}
		}
	}
}

// diskReader counts one home.
type diskReader struct {
	yield   func(discover.DiskUse, error) bool
	stopped bool
	tree    *diskusage.Tree
	home    string
	byID    map[string]int // the record of a thread
}

func (x *diskReader) emit(u discover.DiskUse, err error) {
	x.stopped = x.stopped || !x.yield(u, err)
}

func (x *diskReader) add(owner int, kind, path string, u diskusage.Use) {
	if !x.stopped && u != (diskusage.Use{}) {
		x.emit(discover.DiskUse{Owner: owner, Home: x.home, Path: path, Kind: kind, Bytes: u.Bytes, Files: u.Files}, nil)
	}
}

func (x *diskReader) read() {
	isRollouts := func(name string) bool { return name == sessionsDir || name == archiveDir }
	x.tree.Home(x.home, isRollouts, func(_, name string) (int, bool) {
		if len(name) < uuidLen {
			return 0, false
		}
		i, ok := x.byID[name[:uuidLen]]
		return i, ok
	}, x.add)
	for _, name := range []string{sessionsDir, archiveDir} {
		dir := filepath.Join(x.home, name)
		x.add(diskusage.Nobody, name, dir, x.readRollouts(dir, 0))
	}
}

// dateDepth is how many levels of date directories there are.
const dateDepth = 3

// readRollouts counts a directory of rollouts, and returns what belongs to no thread.
func (x *diskReader) readRollouts(dir string, depth int) (rest diskusage.Use) {
	own := x.tree.Visit(dir, func(e fs.DirEntry, path string, use func() diskusage.Use) {
		name, isRollout := parseRolloutName(e.Name())
		i, known := x.byID[name.id]
		switch {
		case x.stopped:
		case e.IsDir() && depth < dateDepth:
			rest = rest.Plus(x.readRollouts(path, depth+1))
		case isRollout && known:
			x.add(i, "transcript", path, use())
		default:
			rest = rest.Plus(use())
		}
	})
	return rest.Plus(own)
}
