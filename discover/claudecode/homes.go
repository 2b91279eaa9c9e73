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
func (Adapter) Homes(setup discover.HomeSources, table *proc.Table) []discover.Home {
	var h discover.HomeSet
	h.Add(discover.Home{Dir: homeOf(setup.Getenv(configKey), setup.Getenv(homeKey)), Given: true})
	for _, dir := range setup.Configured {
		h.Add(discover.Home{Dir: dir, Given: true, Named: true})
	}
	for p := range table.WithExe(mayBe) {
		if p.Alive() && looksLike(p) {
			dir, _ := processHome(p)
			h.Add(discover.Home{Dir: dir, By: []proc.ID{p.ID}})
		}
	}
	return h.List()
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
// not say, or it names a path that leads to another directory here. The error is that of reading the process.
func processHome(p proc.Process) (string, error) {
	env, err := discover.Environ(p, configKey, homeKey)
	if err != nil {
		return "", err
	}
	return discover.ProcessDir(p, homeOf(env[configKey], env[homeKey]))
}

// HomeOf implements [discover.Homer]: tools inherit what the agent was started with.
func (Adapter) HomeOf(p proc.Process) string {
	dir, _ := processHome(p) // what cannot be read does not tell
	return dir
}

// innerPID is the pid that the process has in its own namespace: another than ours in a container.
func innerPID(p proc.Process) int {
	pids, err := p.NamespacePIDs()
	if err != nil || len(pids) == 0 {
		return p.ID.PID
	}
	return pids[len(pids)-1]
}
