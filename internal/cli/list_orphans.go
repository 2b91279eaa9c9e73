package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/launch/stop"
)

// listOnly checks that no flags are set besides flag and those named.
func listOnly(c *cli.Context, flag string, allowed ...string) error {
	for _, f := range c.Command.Flags {
		if name := f.Names()[0]; name != flag && c.IsSet(name) && !slices.Contains(allowed, name) && name != "home" && name != "all-users" && name != "host" && name != "all-hosts" {
			return UsageError(CommandName(c.Command), "%s and %s cannot be used together", FlagText(flag), FlagText(name))
		}
	}
	return nil
}

func runOrphans(ctx context.Context, f Factory, o *listOptions) error {
	if o.JSON && o.Quiet {
		return UsageError("list", "--json and --quiet cannot be used together")
	}
	c, err := f.NewCall("list", &o.CommonFlags, nil)
	if err != nil {
		return err
	}
	calls, err := c.Calls(nil, nil, false)
	if err != nil {
		return err
	}
	orphans, after, err := Collect(ctx, c, calls, func(ctx context.Context) ([]object.Orphan, []*discover.Warning, error) {
		working, done := f.StartWork(ctx, "reading the processes")
		defer done()
		found, r, err := stop.FindOrphans(working, c.Scanner, f.PID, c.Agents)
		return OrphanObjects(found), r.Warnings, err
	})
	if err != nil {
		return err
	}
	switch {
	case o.Quiet:
		err = PrintEach(orphans, func(orphan object.Orphan) error {
			_, err := fmt.Fprintf(f.Stdout, "%s%d\n", object.HostPrefix(orphan.Host), orphan.PID)
			return err
		})
	case len(orphans) == 0 && !o.JSON && f.Width > 0:
		f.Report.Note("no orphaned processes found")
	default:
		err = PrintRows(c, orphans, render.OrphanTable)
	}
	if err != nil {
		return err
	}
	return after()
}
