package send

import (
	"context"
	"fmt"

	"agentctl/internal/cmdutil"
	"agentctl/internal/output"
	"agentctl/launch"
	"agentctl/launch/send"
)

// runOnHost gives a message to a session of another machine, whose agentctl reads it from stdin.
func runOnHost(ctx context.Context, c *cmdutil.Call, arg string, message launch.Message, o *options) error {
	calls, err := c.HostCalls(c.Config, []string{arg}, []string{"-"}, false)
	if err != nil {
		return err
	}
	for i := range calls {
		calls[i].Stdin = []byte(message.Text())
	}
	ctx, end := cmdutil.Interruptible(ctx)
	defer end()
	endProgress := c.Progress("waiting until the session has read the message")
	defer endProgress()
	return cmdutil.EachHost(ctx, c.Factory, calls, func(host string, r output.SendResult) error {
		endProgress()
		r.Session.Host = host
		session, err := output.ParseSession(&r.Session)
		switch {
		case err != nil:
			return cmdutil.BadAnswer(err)
		case o.Quiet:
			return nil
		case o.JSON:
			return output.JSONLine(c.Stdout, r)
		case r.Result != string(send.Delivered):
			return nil // the error says it
		}
		_, err = fmt.Fprintf(c.Stdout, "%s  delivered\n", output.Sanitize(cmdutil.SessionName(session)))
		return err
	})
}
