package stop

import (
	"context"
	"maps"

	"agentctl/proc"
)

// note adds to the process's family what it has by now. Agents that it has started have families of their own.
func (a *agent) note(ctx context.Context) error {
	table, err := a.world.ReadTable(ctx)
	if err != nil {
		return err
	}
	root, ok := table.Find(a.process.ID)
	if !ok {
		return nil
	}
	alien := func(p proc.Process) bool { return a.now.AgentProcesses[p.ID] && p.ID != root.ID }
	a.noting.Lock()
	defer a.noting.Unlock()
	seen := proc.Descendants{root.ID: root}
	maps.Copy(seen, a.below)
	seen.Expand(table, alien)
	delete(seen, root.ID)
	maps.Copy(a.below, seen)
	return nil
}
