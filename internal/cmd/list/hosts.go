package list

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"sort"

	"agentctl/discover"
	"agentctl/internal/cmdutil"
	"agentctl/internal/output"
)

// runHosts lists the sessions of several machines in one order.
func runHosts(ctx context.Context, c *cmdutil.Call, o *options) error {
	filter, err := hostSelection(c, o)
	if err != nil {
		return err
	}
	calls, err := c.HostCalls(c.Config, nil, nil, false)
	if err != nil {
		return err
	}
	if filter.WaitingFirst { // the newest ones that a host would choose need not have those that wait
		for i := range calls {
			calls[i] = calls[i].Without("n")
		}
	}
	var sessions []discover.Session
	objects := map[*discover.Record]output.Session{}
	partial := cmdutil.Gather(ctx, c, calls, func(host string, object output.Session) error {
		object.Host = host
		session, err := output.ParseSession(&object)
		if err == nil && (!o.Quiet || session.ID != "") {
			sessions = append(sessions, session)
			objects[session.Record] = object
		}
		return cmdutil.BadAnswer(err)
	})
	if partial != nil && len(sessions) == 0 && !o.JSON {
		return partial // that there are none is not known
	}
	return cmp.Or(printObjects(ctx, c, filter.Merge(sessions), objects, o), partial)
}

// printObjects prints sessions of several machines; objects has what each is as JSON.
func printObjects(ctx context.Context, c *cmdutil.Call, sessions []discover.Session, objects map[*discover.Record]output.Session, o *options) error {
	switch {
	case o.JSON:
		return output.JSONArrayFunc(c.Stdout, sessions, func(s discover.Session) output.Session { return objects[s.Record] })
	case o.Quiet:
		return cmdutil.PrintEach(sessions, func(s discover.Session) error {
			_, err := fmt.Fprintln(c.Stdout, output.Sanitize(cmdutil.SessionName(s)))
			return err
		})
	case c.Template != nil:
		return cmdutil.PrintEach(sessions, func(s discover.Session) error { return c.Template(c.Stdout, objects[s.Record]) })
	case o.wide:
		resources := make([]output.Resources, len(sessions))
		for i, s := range sessions {
			object := objects[s.Record]
			resources[i] = output.ParseResources(&object)
		}
		return printTable(ctx, c, len(sessions), o, func(b *bytes.Buffer) error { return output.WideSessionTable(b, sessions, resources, c.Style) })
	}
	return printSessionTable(ctx, c, sessions, o)
}

// runOrphansOnHosts is list --orphans of several machines.
func runOrphansOnHosts(ctx context.Context, c *cmdutil.Call, o *options) error {
	calls, err := c.HostCalls(c.Config, nil, nil, false)
	if err != nil {
		return err
	}
	var found []output.Orphan
	partial := cmdutil.Gather(ctx, c, calls, func(host string, object output.Orphan) error {
		if err := object.Check(); err != nil {
			return cmdutil.BadAnswer(err)
		}
		object.Host = host
		found = append(found, object)
		return nil
	})
	sort.SliceStable(found, func(i, j int) bool { return cmdutil.CompareHosts(calls, found[i].Host, found[j].Host) < 0 })
	if o.Quiet {
		err = cmdutil.PrintEach(found, func(orphan output.Orphan) error {
			_, err := fmt.Fprintf(c.Stdout, "%s%d\n", output.HostPrefix(orphan.Host), orphan.PID)
			return err
		})
	} else {
		err = cmdutil.PrintRows(c, found, o.JSON, output.OrphanTable)
	}
	return cmp.Or(err, partial)
}
