package stop

import (
	"context"
	"fmt"
	"slices"

	"agentctl/discover"
	"agentctl/discover/ancestry"
	"agentctl/proc"
)

// findRivals finds the other sessions with the target's ID. It asks once.
func (t *target) findRivals(ctx context.Context) {
	if t.compared || t.Before.ID == "" {
		return
	}
	t.rivals = ancestry.SameIDSessions(ctx, t.world, t.Before)
	t.compared = ctx.Err() == nil
}

// belongs reports whether a process with the session's environment marker is this session's, where others have the same ID. What
// fits several is noted as unclear, and left.
func (t *target) belongs(now discover.Result, p proc.Process) bool {
	rivals := slices.DeleteFunc(slices.Clone(t.rivals), t.endedToo)
	fits, sole := ancestry.Belongs(t.world, now.Table, p, t.Before, rivals)
	if fits && !sole && !slices.Contains(t.unclear, p.ID) {
		t.unclear = append(t.unclear, p.ID)
	}
	return sole
}

// endedToo reports whether another session is ended by the same call, so that no matter whose a process is of the two.
func (t *target) endedToo(s discover.Session) bool {
	return slices.ContainsFunc(t.targets, func(o *target) bool { return same(o.Before, s) && o.isOver() })
}

// sayUnclear says which processes were left because they may be another session's.
func (t *target) sayUnclear() {
	left := slices.DeleteFunc(t.unclear, func(id proc.ID) bool { return !lives(id) })
	if len(left) == 0 {
		return
	}
	text := fmt.Sprintf("left %s: it may be of another session with this ID", joined(left, ", ", proc.ID.String))
	if t.Message != "" {
		text = t.Message + "; " + text
	}
	t.Message = text
}
