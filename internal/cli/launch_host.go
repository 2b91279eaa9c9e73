package cli

import (
	"context"
	"slices"

	"agentctl/internal/object"
	"agentctl/internal/remote"
	"agentctl/internal/render"
)

// launchRunOnHost launches agents on another machine. The prompt is put together here, from the files here, and goes there by stdin; all other names of
// files and directories are the host's.
func launchRunOnHost(ctx context.Context, f Factory, args, rest []string, o *launchOptions) error {
	c, err := f.NewCall("launch", &o.CommonFlags, nil)
	if err != nil {
		return err
	}
	calls, err := c.HostCalls(c.Config, nil, nil, false)
	if err != nil {
		return err
	}
	switch {
	case len(calls) != 1:
		return UsageError("launch", "launch takes one host, not %d", len(calls))
	case o.dir == "":
		return UsageError("launch", "launch on a host needs --cwd DIR, a directory there: absolute, or relative to the home directory there")
	case o.matrix != "":
		return UsageError("launch", "--matrix and --host cannot be used together; repeat --adapter")
	}
	if err := o.CheckFlags("launch"); err != nil {
		return err
	}
	call := calls[0].Without("from")
	if name, id, ok := remote.SplitID(o.From); ok && name == call.Target.Name {
		call = call.With("--from=" + id)
	} else if o.From != "" {
		if err := o.ReadFrom(ctx, c, "launch"); err != nil {
			return err
		}
	}
	if call, err = o.WithPrompt(ctx, f, "launch", call); err != nil {
		return err
	}
	call.Args = withPassed(call.Args, args, rest)
	ctx, stop := Interruptible(ctx)
	defer stop()
	endProgress := c.Progress("waiting for the session on " + call.Target.Name)
	defer endProgress()
	if o.isGroup() {
		return launchGroupOn(ctx, c, call, o, endProgress)
	}
	return OnHost(ctx, c, call, &o.Options, endProgress)
}

// withPassed puts the agent before the flags of a command line, and what goes to the agent behind them.
func withPassed(words, agent, passed []string) []string {
	end := slices.Index(words, "--")
	out := slices.Concat(words[:1], agent, words[1:end])
	if passed != nil {
		out = append(append(out, "--"), passed...)
	}
	return out
}

// launchGroupOn launches several agents, each in a worktree of its own there.
func launchGroupOn(ctx context.Context, c *Call, call HostCall, o *launchOptions, endProgress func()) error {
	launches := []object.LaunchResult{}
	failed := EachHost(ctx, c.Factory, []HostCall{call}, func(l object.LaunchResult) error {
		launches = append(launches, l)
		return nil
	})
	endProgress()
	var err error
	switch {
	case len(launches) == 0:
	case o.JSON:
		err = render.JSONArray(c.Stdout, launches)
	default:
		err = render.LaunchTable(c.Stdout, launches, c.Style)
	}
	if err != nil {
		return err
	}
	return failed
}
