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
func (Adapter) Homes(setup discover.HomeSources, table *proc.Table) []discover.Home {
	var h homeFinder
	h.Add(discover.Home{Dir: homeFromEnv(setup.Getenv(codexHomeKey), setup.Getenv(userHomeKey)), FromUser: true})
	for _, dir := range setup.Configured {
		h.Add(discover.Home{Dir: dir, FromUser: true, Explicit: true})
	}
	for p := range processes(table) {
		by := []proc.ID{p.ID}
		h.Add(discover.Home{Dir: processHome(p), NamedBy: by})
		files, _ := p.OpenFiles(isThreadFile) // what cannot be read is reported by Claims
		for _, f := range files {
			if f.PathDiffers {
				continue
			}
			if _, _, ok := h.homeOfFile(f.Path); !ok {
				h.Add(discover.Home{Dir: homeOfPath(f.Path), NamedBy: by})
			}
		}
	}
	return h.List()
}

func homeFromEnv(codexHome, userHome string) string {
	switch {
	case codexHome != "":
		return codexHome
	case userHome != "":
		return filepath.Join(userHome, defaultHome)
	}
	return ""
}

// processHome is the home that a process was started with, "" where it cannot be told: another user's process, or one in
// whose mount namespace the home's name leads to another directory.
func processHome(p proc.Process) string {
	env, err := discover.Environ(p, codexHomeKey, userHomeKey)
	if err != nil {
		return ""
	}
	dir, err := discover.ProcessDir(p, homeFromEnv(env[codexHomeKey], env[userHomeKey]))
	if err != nil {
		return ""
	}
	return dir
}

// HomeOf implements [discover.HomeResolver]: tools inherit what the agent was started with.
func (Adapter) HomeOf(p proc.Process) string { return processHome(p) }

// homeOfPath is the home that a lock or rollout lies in by its path alone, "" if the path is not that of a home.
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

// homeFinder are the homes whose files processes have open.
type homeFinder struct{ discover.HomeSet }

// homeOfFile tells which home a file belongs to that the kernel names by its real path, and the file's path as it is found
// from that home. A home's folders may be links to elsewhere, which the kernel follows.
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

// listedHome returns the name under which the homes have this folder, "" if they do not: nothing of it is opened then.
func (h *homeFinder) listedHome(dir string) string {
	if dir == "" {
		return ""
	}
	if i := h.Index(dir); i >= 0 {
		return h.List()[i].Dir
	}
	return ""
}

// byDir is the home of that name; none if there is none.
func (h *homeFinder) byDir(dir string) []discover.Home {
	for _, n := range h.List() {
		if n.Dir == dir {
			return []discover.Home{n}
		}
	}
	return nil
}
