package codex

import (
	"path/filepath"
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
	h.add(discover.Home{Dir: homeIn(setup.Getenv(codexHomeKey), setup.Getenv(userHomeKey))})
	for _, dir := range setup.Configured {
		h.add(discover.Home{Dir: dir, Named: true})
	}
	for p := range processes(table) {
		h.add(discover.Home{Dir: homeOf(p)})
		files, _ := p.OpenFiles(isEvidence) // what cannot be read is reported by Claims
		for _, f := range files {
			if _, _, ok := h.find(f.Path); !ok {
				h.add(discover.Home{Dir: homeAbove(f.Path)})
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
// a container, whose paths are not ours.
func homeOf(p proc.Process) string {
	env, err := p.Env(codexHomeKey, userHomeKey)
	if err != nil {
		return ""
	}
	if pids, err := p.NamespacePIDs(); err == nil && len(pids) > 1 {
		return ""
	}
	dir := homeIn(env[codexHomeKey], env[userHomeKey])
	if dir == "" || filepath.IsAbs(dir) {
		return dir
	}
	cwd, err := p.Dir()
	if err != nil {
		return ""
	}
	return filepath.Join(cwd, dir)
}

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

func (h *homes) add(d discover.Home) {
	if d.Dir == "" {
		return
	}
	if abs, err := filepath.Abs(d.Dir); err == nil {
		d.Dir = abs
	}
	real := realPath(d.Dir)
	for i := range h.all {
		if h.all[i].real == real {
			h.all[i].Named = h.all[i].Named || d.Named
			return
		}
	}
	n := home{Home: d, real: real}
	for i, name := range [...]string{sessionsDir, archiveDir, locksDir} {
		n.folders[i] = folder{name, realPath(filepath.Join(real, name))}
	}
	h.all = append(h.all, n)
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

// named returns the name under which the homes have this folder, its own if they do not.
func (h *homes) named(dir string) string {
	if dir == "" {
		return ""
	}
	real := realPath(dir)
	for _, n := range h.all {
		if n.real == real {
			return n.Dir
		}
	}
	return dir
}

// realPath resolves symbolic links where the path exists.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}
