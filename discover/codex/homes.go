package codex

import (
	"context"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/proc"
)

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

// byDir returns the home of that path as a list of one, which is empty if it is not listed.
func (h *homeFinder) byDir(dir string) []discover.Home {
	return slices.DeleteFunc(slices.Clone(h.List()), func(n discover.Home) bool { return n.Dir != dir })
}

// ReadDisk counts all rollouts of a thread, and the files that the home's folders have under its ID, such as shell snapshots. The databases
// belong to no thread: they have logs and indexes of all threads.
func (Adapter) ReadDisk(ctx context.Context, homes []discover.Home, records []discover.Record) iter.Seq2[discover.DiskUse, error] {
	return discover.CountDisk(ctx, agentName, homes, func(c *discover.DiskCounter) {
		byID := map[string]int{}
		for i, r := range records {
			if r.Home == c.Home.Dir {
				byID[r.ID] = i
			}
		}
		c.DiskTree.Home(c.Home.Dir, func(path string, e fs.DirEntry) storage.Place {
			id, kind := e.Name()[:min(len(e.Name()), uuidLen)], ""
			folder, _, below := strings.Cut(path, "/")
			isRollouts := folder == sessionsDir || folder == archiveDir
			if rollout, ok := parseRolloutName(e.Name()); isRollouts && ok {
				id, kind = rollout.id, "transcript"
			}
			i, known := byID[id]
			switch {
			case !below && isRollouts, e.IsDir() && (!below || isRollouts && strings.Count(path, "/") <= maxDepth):
				return storage.Place{Owner: storage.Nobody, Open: true}
			case below && known && isRollouts == (kind != ""):
				return storage.Place{Owner: i, Kind: kind}
			}
			return storage.Place{Owner: storage.Nobody}
		}, c.Add)
	})
}
