package status

import (
	"context"
	"errors"

	"agentctl/internal/cmdutil"
	"agentctl/internal/output"
)

// runHosts shows a session of another machine, or those of several that have the ID.
func runHosts(ctx context.Context, c *cmdutil.Call, arg string, o *options) error {
	calls, err := c.HostCalls(c.Config, []string{arg}, nil, true)
	if err != nil {
		return err
	}
	var objects []output.Session
	working, done := c.StartWork(ctx, cmdutil.AskingHosts(calls))
	err = cmdutil.EachHost(working, c.Factory, calls, func(host string, object output.Session) error {
		if _, err := output.ParseSession(&object); err != nil {
			return cmdutil.Misunderstood(err)
		}
		object.Host = host
		objects = append(objects, object)
		return nil
	})
	done()
	if o.alive {
		return err
	}
	if failed := c.ShowObjects(objects, o.JSON); failed != nil {
		return errors.Join(failed, err)
	}
	return err
}
