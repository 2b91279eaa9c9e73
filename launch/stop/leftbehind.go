package stop

import (
	"context"
	"fmt"
	"slices"

	"agentctl/discover/ancestry"
	"agentctl/proc"
)

// findLeftBehind finds what earlier processes of the sessions have left behind ([ancestry.Trees.LeftBehind]), before anything
// ends: afterwards nothing shows that it was older than the sessions' processes.
func (s *stopping) findLeftBehind(ctx context.Context) {
	forest := ancestry.NewTrees(s.world, s.now, s.chosen)
	for _, t := range s.targets {
		if t.Outcome != "" && t.Outcome != Planned {
			continue
		}
		left, unclear := forest.LeftBehind(ctx, t.Before)
		t.older = proc.Descendants{}
		for _, p := range slices.Concat(left, unclear) {
			t.older[p.ID] = p
		}
		family := proc.Descendants{}
		for _, p := range left {
			family[p.ID] = p
		}
		t.LeftBehind = idsOf(t.remains(s.now, family))
	}
}

// excluded reports whether a process with the session's environment marker is older than the session's processes, but was not left
// behind by an earlier one.
func (t *target) excluded(p proc.Process) bool {
	if _, left := t.older[p.ID]; left || len(t.Before.Processes) == 0 {
		return false
	}
	return ancestry.Predates(p, t.Before)
}

// planLeftBehind says which processes of an earlier process would be ended, too.
func (t *target) planLeftBehind() {
	if len(t.LeftBehind) == 0 || t.Outcome != Planned {
		return
	}
	t.Message += fmt.Sprintf("; then %s, left behind before the session was resumed", terminated(t.LeftBehind))
}
