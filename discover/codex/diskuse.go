package codex

import (
	"context"
	"io/fs"
	"iter"
	"path/filepath"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// ReadDisk counts all rollouts of a thread, and whatever the folders of the home have under its ID, such as shell snapshots. The
// databases are nobody's: they have logs and indexes of all threads.
func (Adapter) ReadDisk(ctx context.Context, homes []discover.Home, records []discover.Record) iter.Seq2[discover.DiskUse, error] {
	return discover.CountDisk(ctx, agentName, homes, func(c *discover.DiskCounter) {
		x := diskReader{c, map[string]int{}}
		for i, r := range records {
			if r.Home == c.Home.Dir {
				x.byID[r.ID] = i
			}
		}
		x.read()
	})
}

// diskReader counts one home.
type diskReader struct {
	*discover.DiskCounter
	byID map[string]int // the record of a thread
}

func (x *diskReader) read() {
	isRollouts := func(name string) bool { return name == sessionsDir || name == archiveDir }
	x.DiskTree.Home(x.Home.Dir, isRollouts, func(_, name string) (int, bool) {
		if len(name) < uuidLen {
			return 0, false
		}
		i, ok := x.byID[name[:uuidLen]]
		return i, ok
	}, x.Add)
	for _, name := range []string{sessionsDir, archiveDir} {
		dir := filepath.Join(x.Home.Dir, name)
		x.Add(storage.Nobody, name, dir, x.readRollouts(dir, 0))
	}
}

// dateDepth is how many levels of date directories there are.
const dateDepth = 3

// readRollouts counts a directory of rollouts, and returns what belongs to no thread.
func (x *diskReader) readRollouts(dir string, depth int) (rest storage.DiskUse) {
	own := x.Visit(dir, func(e fs.DirEntry, path string, use func() storage.DiskUse) {
		name, isRollout := parseRolloutName(e.Name())
		i, known := x.byID[name.id]
		switch {
		case x.Stopped:
		case e.IsDir() && depth < dateDepth:
			rest = rest.Plus(x.readRollouts(path, depth+1))
		case isRollout && known:
			x.Add(i, "transcript", path, use())
		default:
			rest = rest.Plus(use())
		}
	})
	return rest.Plus(own)
}
