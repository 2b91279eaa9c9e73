package status

import (
	"cmp"
	"context"

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
	failed := cmdutil.Gather(ctx, c, calls, func(host string, object output.Session) error {
		if _, err := output.ParseSession(&object); err != nil {
			return cmdutil.BadAnswer(err)
		}
		object.Host = host
		objects = append(objects, object)
		return nil
	})
	if o.alive {
		return failed
	}
	return cmp.Or(c.ShowObjects(objects, o.JSON), failed)
}
