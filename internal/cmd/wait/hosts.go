package wait

import (
	"context"

	"agentctl/internal/cmdutil"
	"agentctl/internal/output"
)

// runHosts waits for sessions of other machines, each of which tells when one of its own gets there.
func runHosts(ctx context.Context, c *cmdutil.Call, args []string, o *options) error {
	calls, err := c.HostCalls(c.Config, args, nil, false)
	if err != nil {
		return err
	}
	ctx, stop := cmdutil.Interruptible(ctx)
	defer stop()
	endProgress := c.ProgressOf(cmdutil.AskingHosts("waiting for sessions on", calls))
	defer endProgress()
	return cmdutil.EachHost(ctx, c.Factory, calls, func(host string, object output.Session) error {
		object.Host = host
		s, err := output.ParseSession(&object)
		if err != nil {
			return cmdutil.BadAnswer(err)
		}
		defer c.Report.Pause()()
		return printObject(c, s, object, o)
	})
}
