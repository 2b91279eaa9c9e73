package discover

import (
	"context"
	"errors"
	"fmt"

	"agentctl/proc"
)

// addForeignProcess adds another user's agent that was asked for by its pid, as the process table shows it. Its home is not
// opened, so its session and status are unknown.
func (scan *Scan) addForeignProcess(ctx context.Context, r Result, pid int) Result {
	p, ok := scan.table.ByPID(pid)
	if !ok || scan.scanner.AllUsers || uidOf(p) == scan.scanner.UID {
		return r
	}
	alone := scan.table.Filter(func(o proc.Process) bool { return o.ID == p.ID })
	var claims []Claim
	for _, a := range scan.adapters {
		found, _ := a.Claims(ctx, alone, nil) // the warning below covers it
		for _, c := range found {
			if c.Session != "" || c.Process != p.ID {
				continue
			}
			c.Unreadable = fmt.Sprintf("it belongs to user %d; --all-users looks into its home", uidOf(p))
			c.Home, c.HideIfUnlinked, c.Turn = "", false, nil
			claims = append(claims, c)
			scan.warn(a.Name(), &Warning{Agent: a.Name(), Path: p.ID.String(), Err: errors.New(c.Unreadable)})
		}
	}
	r.Sessions, r.Warnings = Correlate(scan.table, claims), scan.warnings
	return r
}
