package codex

import (
	"context"
	"io/fs"
	"iter"
	"path/filepath"
	"strings"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/proc"
)

// homeVariables name a home.
func homeVariables() discover.HomeVariables {
	return discover.HomeVariables{Key: "CODEX_HOME", Default: ".codex"}
}

// Homes returns the homes of this environment and of the configuration, those that the environments of live Codex processes name,
// and those of the files that live Codex processes have open.
func (Adapter) Homes(setup discover.HomeSources, table *proc.Table) []discover.Home {
	h := homeFinder{homeVariables().Named(setup)}
	for p := range candidates(table, h.List()) {
		files, own, _ := inspect(p) // Claims reports what cannot be read
		if !own {
			continue
		}
		by := []proc.ID{p.ID}
		h.Add(discover.Home{Dir: processHome(p), NamedBy: by})
		for _, t := range files.threads {
			for _, f := range []*proc.OpenFile{t.lock, t.rollout} {
				if f == nil || f.PathDiffers {
					continue
				}
				if _, _, ok := h.homeOfFile(f.Path); !ok {
					h.Add(discover.Home{Dir: homeOfPath(f.Path), NamedBy: by})
				}
			}
		}
	}
	return h.List()
}

// processHome is the home that a process was started with. It is "" where that cannot be known: for another user's process, and where
// the process's mount namespace has another directory under the home's path.
func processHome(p proc.Process) string {
	dir, _ := homeVariables().OfProcess(p)
	return dir
}

// homeOfPath is the home that contains a lock or rollout of this path, "" if the path is not that of one.
func homeOfPath(file string) string {
	dir := filepath.Dir(file)
	switch filepath.Base(dir) {
	case locksDir, archiveDir:
		return filepath.Dir(dir)
	}
	for range len("YMD") {
		dir = filepath.Dir(dir)
	}
	if filepath.Base(dir) != sessionsDir {
		return ""
	}
	return filepath.Dir(dir)
}

// homeFinder finds the home of an open file.
type homeFinder struct{ discover.HomeSet }

// homeOfFile returns the home that contains a file, and the file's path below that home. file is the real path, which the kernel
// reports; a home's directories may be symbolic links.
func (h *homeFinder) homeOfFile(file string) (dir, path string, ok bool) {
	for _, resolve := range []func(string) string{filepath.Clean, discover.RealPath} {
		for i, n := range h.List() {
			for _, name := range []string{sessionsDir, archiveDir, locksDir} {
				folder := resolve(filepath.Join(h.RealPath(i), name))
				if rest, ok := strings.CutPrefix(file, folder+"/"); ok {
					return n.Dir, filepath.Join(n.Dir, name, rest), true
				}
			}
		}
	}
	return "", "", false
}

// byDir returns the home of that path as a list of one, or nil if it is not listed.
func (h *homeFinder) byDir(dir string) []discover.Home {
	for _, n := range h.List() {
		if n.Dir == dir {
			return []discover.Home{n}
		}
	}
	return nil
}

// ReadDisk counts all rollouts of a thread, and the files that the home's folders have under its ID, such as shell snapshots. The databases
// belong to no thread: they have logs and indexes of all threads.
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

func (d *diskReader) read() {
	isRollouts := func(name string) bool { return name == sessionsDir || name == archiveDir }
	d.DiskTree.Home(d.Home.Dir, isRollouts, func(_, name string) (int, bool) {
		if len(name) < uuidLen {
			return 0, false
		}
		i, ok := d.byID[name[:uuidLen]]
		return i, ok
	}, d.Add)
	for _, name := range []string{sessionsDir, archiveDir} {
		dir := filepath.Join(d.Home.Dir, name)
		d.Add(storage.Nobody, name, dir, d.readRollouts(dir, 0))
	}
}

// readRollouts counts a directory of rollouts, and returns what belongs to no thread.
func (d *diskReader) readRollouts(dir string, depth int) (rest storage.DiskUse) {
	own := d.Visit(dir, func(e fs.DirEntry, path string, use func() storage.DiskUse) {
		name, isRollout := parseRolloutName(e.Name())
		i, known := d.byID[name.id]
		switch {
		case d.Stopped:
		case e.IsDir() && depth < maxDepth:
			rest = rest.Plus(d.readRollouts(path, depth+1))
		case isRollout && known:
			d.Add(i, "transcript", path, use())
		default:
			rest = rest.Plus(use())
		}
	})
	return rest.Plus(own)
}
