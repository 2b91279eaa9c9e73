package claudecode

import (
	"context"

	"agentctl/discover"
	"agentctl/proc"
)

const configKey = "CLAUDE_CONFIG_DIR"

// homeVariables decide the config folder. XDG variables do not matter.
func homeVariables() discover.HomeVariables {
	return discover.HomeVariables{Key: configKey, Default: ".claude"}
}

// Homes returns the config folders: that of this environment, the configured ones, and those that live Claude Code
// processes have in their environment. A program of another name counts if it has registered there.
func (Adapter) Homes(setup discover.HomeSources, table *proc.Table) []discover.Home {
	h := homeVariables().Named(setup)
	for p := range table.Candidates(proc.Signs{Name: mayBeAgent, Env: []string{configKey}}) {
		if !p.Alive() {
			continue
		}
		if dir, _ := homeVariables().OfProcess(p); dir != "" && (isAgentProcess(p) || hasRegistered(p, dir)) {
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
