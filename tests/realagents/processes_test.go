package realagents

import (
	"slices"

	"agentctl/internal/output"
)

// doing is the process tree that status shows of a session.
func (c agentctl) doing(id string) []output.Process {
	c.t.Helper()
	return c.status(id).Processes
}

// doingAlone are the processes of a session in a shared process that are its alone. The shared one stands above them.
func (c agentctl) doingAlone(id string, shared int) (pids []int) {
	c.t.Helper()
	tree := c.doing(id)
	if len(tree) == 0 || tree[0].PID != shared || !tree[0].Shared {
		c.t.Fatalf("it is not below %d: %+v", shared, tree)
	}
	for _, p := range tree[1:] {
		if !p.Shared && p.Adapter == "" {
			pids = append(pids, p.PID)
		}
	}
	return pids
}

func sameSet(a, b []int) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
