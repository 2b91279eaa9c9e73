package cmdutil

import (
	"agentctl/internal/output"
	"agentctl/lock"
)

// PrintLocks prints locks as a table, as JSON, or as --format says.
func (c *Call) PrintLocks(list []lock.Lock, asJSON bool) error {
	objects := make([]output.Lock, 0, len(list))
	for _, l := range list {
		objects = append(objects, lockObject(l))
	}
	return PrintRows(c, objects, asJSON, output.LockTable)
}

func lockObject(l lock.Lock) output.Lock {
	out := output.Lock{Directory: l.Dir, Kind: string(l.Kind), Since: output.Timestamp(l.Since())}
	switch {
	case l.Session != nil:
		session := output.NewSession(*l.Session)
		out.Adapter, out.SessionID, out.PID = session.Adapter, session.ID, session.PID
		out.Status = session.Status
	case len(l.Holders) > 0:
		out.PID, out.LockedBy, out.Shared = l.Holders[0].ID.PID, l.Holders[0].Name, l.Shared
	case l.Declared != nil && l.Declared.ReadErr != nil:
		out.Reason = l.Declared.ReadErr.Error()
	case l.Declared != nil:
		out.LockedBy, out.Reason, out.Until = l.Declared.By, l.Declared.Reason, output.Timestamp(l.Declared.Until)
	}
	return out
}
