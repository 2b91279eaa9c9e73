package list

import (
	"context"
	"errors"
	"os"

	"github.com/urfave/cli/v2"

	"agentctl/discover/watch"
	"agentctl/internal/cmdutil"
	"agentctl/internal/cmdutil/live"
	"agentctl/internal/output"
	"agentctl/internal/terminal"
)

// runWatch is list --watch.
func runWatch(f cmdutil.Factory, c *cli.Context, o *options) error {
	if err := only(c, "watch", "all", "since", "adapter", "status", "cwd", "repo", "group", "n", "children", "no-color"); err != nil {
		return err
	}
	in, typed := f.Stdin.(*os.File)
	out, shown := f.Stdout.(*os.File)
	if !f.Terminal || !typed || !shown || f.Getenv("TERM") == "dumb" {
		return cmdutil.NewUsageError("--watch needs a terminal that can be redrawn", "agentctl events prints what changes, line by line")
	}
	call, err := f.NewCall("list", &o.CommonFlags, nil)
	if err != nil {
		return err
	}
	filter, err := selection(call, o)
	if err != nil {
		return err
	}
	limit := filter.Limit
	filter.Limit = 0 // who needs the user is not always the newest
	ctx, stop := context.WithCancel(c.Context)
	defer stop()
	table := live.NewTable()
	table.Watch(ctx, watch.NewFilterWatcher(call.Scanner, filter), f.Now)
	screen := terminal.Screen{In: in, Out: out, Changed: table.Changed, Frame: func(columns, rows int) []string {
		style := call.Style
		style.Width, style.Now = columns, f.Now()
		sessions, warnings, known := table.Sessions(style.Now)
		if !known {
			return []string{"reading …"}
		}
		if limit > 0 && len(sessions) > limit {
			sessions = sessions[:limit]
		}
		return output.Frame(sessions, warnings, style, rows)
	}}
	err = screen.Show(ctx)
	stop()
	if failed := table.Wait(); err == nil && !errors.Is(failed, context.Canceled) {
		err = failed
	}
	if err != nil {
		return err
	}
	last, _ := table.Last()
	return f.ReportWarnings(last.Warnings)
}
