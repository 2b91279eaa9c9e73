package cli

import (
	"context"
)

// resumeRunOnHost continues a session of another machine, by the checks of its agentctl. The message goes there by stdin; directories are the host's.
func resumeRunOnHost(ctx context.Context, c *Call, call HostCall, o *resumeOptions) error {
	if err := o.CheckFlags("resume"); err != nil {
		return err
	}
	if o.None() {
		if err := o.checkInteractive(c.Terminal); err != nil {
			return err
		}
		return c.ReplaceByHost(call)
	}
	call, err := o.WithPrompt(ctx, c.Factory, "resume", call)
	if err != nil {
		return err
	}
	ctx, stop := Interruptible(ctx)
	defer stop()
	endProgress := c.Progress("waiting for the session on " + call.Target.Name)
	defer endProgress()
	return OnHost(ctx, c, call, &o.Options, endProgress)
}
