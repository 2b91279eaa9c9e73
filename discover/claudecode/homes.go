package claudecode

import (
	"path/filepath"

	"agentctl/discover"
	"agentctl/proc"
)

// Where a process keeps its config folder: $CLAUDE_CONFIG_DIR, else ~/.claude. XDG variables do not matter.
const (
	configKey = "CLAUDE_CONFIG_DIR"
	homeKey   = "HOME"
)

// Homes returns the config folders: that of this environment, those configured, and those that live Claude Code
// processes name in theirs.
func (Adapter) Homes(setup discover.Setup, table *proc.Table) []discover.Home {
	var h homes
	h.add(discover.Home{Dir: homeOf(setup.Getenv(configKey), setup.Getenv(homeKey))})
	for _, dir := range setup.Configured {
		h.add(discover.Home{Dir: dir, Named: true})
	}
	for p := range table.All() {
		if p.Alive() && looksLike(p) {
			dir, _ := processHome(p)
			h.add(discover.Home{Dir: dir})
		}
	}
	return h.list
}

// homes collects folders, each once: two names of one folder are one home, under the name that came first.
type homes struct {
	list []discover.Home
	seen map[string]int // by real path
}

func (h *homes) add(home discover.Home) {
	if home.Dir == "" {
		return
	}
	if abs, err := filepath.Abs(home.Dir); err == nil {
		home.Dir = abs
	}
	real := realPath(home.Dir)
	if i, ok := h.seen[real]; ok {
		h.list[i].Named = h.list[i].Named || home.Named
		return
	}
	if h.seen == nil {
		h.seen = map[string]int{}
	}
	h.seen[real] = len(h.list)
	h.list = append(h.list, home)
}

// realPath resolves symbolic links as far as the path exists.
func realPath(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return filepath.Clean(dir)
}

func homeOf(config, home string) string {
	switch {
	case config != "":
		return config
	case home != "":
		return filepath.Join(home, ".claude")
	}
	return ""
}

// processHome is the config folder that a process was started with; "" where it cannot be told: the environment does
// not say, or names a path of a container, which is not ours. The error is that of reading the environment.
func processHome(p proc.Process) (string, error) {
	env, err := p.Env(configKey, homeKey)
	if err != nil || contained(p) {
		return "", err
	}
	dir := homeOf(env[configKey], env[homeKey])
	if dir == "" || filepath.IsAbs(dir) {
		return dir, nil
	}
	cwd, err := p.Dir()
	if err != nil {
		return "", err
	}
	return filepath.Join(cwd, dir), nil
}

// contained reports whether the process lives in a pid namespace below ours.
func contained(p proc.Process) bool {
	pids, err := p.NamespacePIDs()
	return err == nil && len(pids) > 1
}
