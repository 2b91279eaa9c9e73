package claudecode

import (
	"context"
	"path/filepath"

	"agentctl/discover"
	"agentctl/proc"
)

// The variables that decide the config folder: $CLAUDE_CONFIG_DIR, else ~/.claude. XDG variables do not matter.
const (
	configKey = "CLAUDE_CONFIG_DIR"
	homeKey   = "HOME"
)

// Homes returns the config folders: that of this environment, the configured ones, and those that live Claude Code
// processes have in their environment. A program of another name counts if it has registered there.
func (Adapter) Homes(setup discover.HomeSources, table *proc.Table) []discover.Home {
	var h discover.HomeSet
	h.Add(discover.Home{Dir: configDir(setup.Getenv(configKey), setup.Getenv(homeKey)), FromUser: true})
	for _, dir := range setup.Configured {
		h.Add(discover.Home{Dir: dir, FromUser: true, Explicit: true})
	}
	for p := range table.Candidates(proc.Signs{Name: mayBeAgent, Env: []string{configKey}}) {
		if !p.Alive() {
			continue
		}
		if dir, _ := processHome(p); dir != "" && (isAgentProcess(p) || hasRegistered(p, dir)) {
			h.Add(discover.Home{Dir: dir, NamedBy: []proc.ID{p.ID}})
		}
	}
	return h.List()
}

// hasRegistered reports whether a home, which nobody may have named but the process, has its registry entry.
func hasRegistered(p proc.Process, home string) bool {
	ctx, pid := discover.Confine(context.Background(), []discover.Home{{Dir: home}}), namespacePID(p)
	e, err := readRegistryEntry(ctx, home, pid)
	if err != nil {
		return false
	}
	_, err = e.validate(p, pid)
	return err == nil && e.confirmedBy(p)
}

func configDir(config, home string) string {
	switch {
	case config != "":
		return config
	case home != "":
		return filepath.Join(home, ".claude")
	}
	return ""
}

// processHome returns the config folder that a process was started with; "" if the environment does not say, or names a
// path that leads to another directory here. The error is that of reading the process.
func processHome(p proc.Process) (string, error) {
	env, err := discover.Environ(p, configKey, homeKey)
	if err != nil {
		return "", err
	}
	return discover.ProcessDir(p, configDir(env[configKey], env[homeKey]))
}
