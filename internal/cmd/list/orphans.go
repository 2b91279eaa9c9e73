package list

import (
	"context"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"agentctl/internal/cmdutil"
	"agentctl/internal/output"
	"agentctl/launch/stop"
)

// only checks that no flags are set besides flag and those named.
func only(c *cli.Context, flag string, allowed ...string) error {
	for _, f := range c.Command.Flags {
		if name := f.Names()[0]; name != flag && c.IsSet(name) && !slices.Contains(allowed, name) && name != "home" && name != "all-users" && name != "host" && name != "all-hosts" {
			return cmdutil.UsageError(cmdutil.CommandName(c.Command), "%s and %s cannot be used together", cmdutil.FlagText(flag), cmdutil.FlagText(name))
		}
	}
	return nil
}

func runOrphans(ctx context.Context, f cmdutil.Factory, o *options) error {
	if o.JSON && o.Quiet {
		return cmdutil.UsageError("list", "--json and --quiet cannot be used together")
	}
	c, err := f.NewCall("list", &o.CommonFlags, nil)
	if err != nil {
		return err
	}
	if f.OnHosts() {
		return runOrphansOnHosts(ctx, c, o)
	}
	working, done := f.StartWork(ctx, "reading the processes")
	found, r, err := stop.FindOrphans(working, c.Scanner, f.PID, c.Agents)
	done()
	if err != nil {
		return err
	}
	switch {
	case o.JSON:
		err = output.JSONArray(f.Stdout, cmdutil.OrphanObjects(found))
	case o.Quiet:
		err = cmdutil.PrintEach(found, func(orphan stop.Orphan) error {
			_, err := fmt.Fprintln(f.Stdout, orphan.ID.PID)
			return err
		})
	case len(found) > 0:
		err = output.OrphanTable(f.Stdout, cmdutil.OrphanObjects(found), c.Style)
	case f.Width > 0:
		f.Report.Note("no orphaned processes found")
	}
	if err != nil {
		return err
	}
	return f.ReportWarnings(r.Warnings)
}
