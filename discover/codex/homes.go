package codex

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/proc"
)

// Where a process keeps its home: $CODEX_HOME, else ~/.codex.
const (
	codexHomeKey = "CODEX_HOME"
	userHomeKey  = "HOME"
	defaultHome  = ".codex"
)

// Homes returns the homes of this environment and of the configuration, those that live Codex processes name in
// their environment, and those whose files live Codex processes hold.
func (Adapter) Homes(setup discover.Setup, table *proc.Table) []discover.Home {
	var h homes
	h.add(discover.Home{Dir: homeIn(setup.Getenv(codexHomeKey), setup.Getenv(userHomeKey)), Given: true})
	for _, dir := range setup.Configured {
		h.add(discover.Home{Dir: dir, Given: true, Named: true})
	}
	for p := range processes(table) {
		by := []proc.ID{p.ID}
		h.add(discover.Home{Dir: homeOf(p), By: by})
		files, _ := p.OpenFiles(isEvidence) // what cannot be read is reported by Claims
		for _, f := range files {
			if f.Elsewhere {
				continue
			}
			if _, _, ok := h.find(f.Path); !ok {
				h.add(discover.Home{Dir: homeAbove(f.Path), By: by})
			}
		}
	}
	return h.list()
}

func homeIn(codexHome, userHome string) string {
	switch {
	case codexHome != "":
		return codexHome
	case userHome != "":
		return filepath.Join(userHome, defaultHome)
	}
	return ""
}

// homeOf is the home that a process was started with, "" where it cannot be told: another user's process, or one in
// whose mount namespace the home's name leads to another directory.
func homeOf(p proc.Process) string {
	env, err := discover.Environ(p, codexHomeKey, userHomeKey)
	if err != nil {
		return ""
	}
	dir := homeIn(env[codexHomeKey], env[userHomeKey])
	if dir != "" && !filepath.IsAbs(dir) {
		cwd, err := p.Dir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(cwd, dir)
	}
	if same, err := p.SamePath(dir); err == nil && !same {
		return ""
	}
	return dir
}

// HomeOf implements [discover.Homer]: tools inherit what the agent was started with.
func (Adapter) HomeOf(p proc.Process) string { return homeOf(p) }

// homeAbove is the home that a lock or rollout lies in by its path alone, "" if the path is not that of a home.
func homeAbove(file string) string {
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

// homes is a set of homes: two names of one folder are one home, under the name that came first.
type homes struct{ all []home }

// home is a home with the real paths of its folders, as the kernel names the files in them.
type home struct {
	discover.Home
	real    string
	folders [3]folder
}

// folder is one of a home's folders, which may be a link to elsewhere.
type folder struct{ name, real string }

func newHome(d discover.Home) home {
	n := home{Home: d, real: discover.RealPath(d.Dir)}
	for i, name := range [...]string{sessionsDir, archiveDir, locksDir} {
		path := filepath.Join(n.real, name)
		if info, err := os.Lstat(path); err == nil && info.Mode().Type() == fs.ModeSymlink {
			path = discover.RealPath(path)
		}
		n.folders[i] = folder{name, path}
	}
	return n
}

func (h *homes) add(d discover.Home) {
	if d.Dir == "" {
		return
	}
	if abs, err := filepath.Abs(d.Dir); err == nil {
		d.Dir = abs
	}
	i := h.index(d.Dir)
	if i < 0 {
		h.all = append(h.all, newHome(d))
		return
	}
	h.all[i].Add(d)
}

// index finds a folder among the homes, -1 if it is none of them. Most processes name theirs as others do.
func (h *homes) index(dir string) int {
	if i := slices.IndexFunc(h.all, func(n home) bool { return n.Dir == dir }); i >= 0 {
		return i
	}
	real := discover.RealPath(dir)
	return slices.IndexFunc(h.all, func(n home) bool { return n.real == real })
}

func (h *homes) list() []discover.Home {
	out := make([]discover.Home, len(h.all))
	for i, n := range h.all {
		out[i] = n.Home
	}
	return out
}

// find tells which home a file belongs to that the kernel names by its real path, and the file's path as it is found
// from that home.
func (h *homes) find(file string) (dir, path string, ok bool) {
	for _, n := range h.all {
		for _, f := range n.folders {
			if rest, ok := strings.CutPrefix(file, f.real+"/"); ok {
				return n.Dir, filepath.Join(n.Dir, f.name, rest), true
			}
		}
	}
	return "", "", false
}

// named returns the name under which the homes have this folder, "" if they do not: nothing of it is opened then.
func (h *homes) named(dir string) string {
	if dir == "" {
		return ""
	}
	if i := h.index(dir); i >= 0 {
		return h.all[i].Dir
	}
	return ""
}

// under is the home of that name; none if there is none.
func (h *homes) under(dir string) []discover.Home {
	for _, n := range h.all {
		if n.Dir == dir {
			return []discover.Home{n.Home}
		}
	}
	return nil
}
