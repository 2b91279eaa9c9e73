package discover

import (
	"context"
	"errors"
	"fmt"

	"agentctl/proc"
)

// addForeignProcess adds what the process table shows of another user's agent, which was asked for by its pid. Its home is not
// opened, so that its session and status are not known.
func (l *Scan) addForeignProcess(ctx context.Context, r Result, pid int) Result {
	p, ok := l.table.ByPID(pid)
	if !ok || l.scanner.AllUsers || uidOf(p) == l.scanner.UID {
		return r
	}
	alone := l.table.Filter(func(o proc.Process) bool { return o.ID == p.ID })
	var claims []Claim
	for _, a := range l.adapters {
		found, _ := a.Claims(ctx, alone, nil) // what cannot be read is said below, once
		for _, c := range found {
			if c.Session != "" || c.Process != p.ID {
				continue
			}
			c.Unreadable = fmt.Sprintf("it belongs to user %d; --all-users looks into its home", uidOf(p))
			c.Home, c.HideIfUnlinked, c.Turn = "", false, nil
			claims = append(claims, c)
			l.warn(a.Name(), &Warning{Agent: a.Name(), Path: p.ID.String(), Err: errors.New(c.Unreadable)})
		}
	}
	r.Sessions, r.Warnings = Correlate(l.table, claims), l.warnings
	return r
}
