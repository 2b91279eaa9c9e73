package cli

import (
	"context"
	"fmt"
	"slices"

	"agentctl/discover"
	"agentctl/discover/ancestry"
	"agentctl/internal/object"
	"agentctl/launch/stop"
)

// addOrphans adds the processes that stopped sessions of r have left behind, by the rule of list --orphans. It reads
// the environments of all processes, so it does so only if a session is stopped. Of the warnings of this scan, which
// reads other sessions too, it returns only those of the process table.
func addOrphans(ctx context.Context, c *Call, r discover.Result, sessions []object.Session) []*discover.Warning {
	// The environments alone are cheap to ask, and as a rule say that there are none.
	known := r.Table != nil && !r.Table.Hidden()
	if !slices.ContainsFunc(r.Sessions, func(s discover.Session) bool {
		return s.Status == discover.Stopped && (!known || ancestry.HasMarkedProcess(c.Scanner, r.Table, s))
	}) {
		return nil
	}
	found, scan, err := stop.FindOrphans(ctx, c.Scanner, c.PID, nil)
	if err != nil {
		if ctx.Err() != nil {
			return nil // the caller's own error
		}
		return []*discover.Warning{{Path: "processes", Err: fmt.Errorf("orphans are not known: %w", err)}}
	}
	for i, s := range r.Sessions {
		for _, orphan := range found {
			if s.Status == discover.Stopped && orphan.Session.Key() == s.Key() {
				sessions[i].Orphans = append(sessions[i].Orphans, Processes([]ancestry.Node{{Process: orphan.Process}})...)
			}
		}
	}
	return slices.DeleteFunc(scan.Warnings, func(w *discover.Warning) bool { return w.Agent != "" })
}
