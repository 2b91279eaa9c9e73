package discover

import (
	"context"
	"errors"
	"fmt"

	"agentctl/proc"
)

// addForeignProcess adds what the process table shows of another user's agent, which was asked for by its pid. Its home is not
// opened, so that its session and status are not known.
func (scan *Scan) addForeignProcess(ctx context.Context, r Result, pid int) Result {
	p, ok := scan.table.ByPID(pid)
	if !ok || scan.scanner.AllUsers || uidOf(p) == scan.scanner.UID {
		return r
	}
	alone := scan.table.Filter(func(o proc.Process) bool { return o.ID == p.ID })
	var claims []Claim
	for _, a := range scan.adapters {
		found, _ := a.Claims(ctx, alone, nil) // what cannot be read is said below, once
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
