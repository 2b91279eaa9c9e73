package cli

import (
	"bytes"
	"context"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/discover/watch"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/internal/terminal"
)

func runWatch(f Factory, c *cli.Context, o *listOptions) error {
	allowed := []string{"all", "since", "adapter", "status", "cwd", "repo", "group", "n", "children", "no-color"}
	if f.Asked { // by the list --watch of another machine
		allowed = append(allowed, "json")
	}
	if err := listOnly(c, "watch", allowed...); err != nil {
		return err
	}
	if f.Asked {
		return streamRows(c.Context, f, o)
	}
	in, out, ok := Terminal(f)
	if !ok {
		return NewUsageError("--watch needs a terminal that can be redrawn", "agentctl events prints what changes, line by line")
	}
	call, err := f.NewCall("list", &o.CommonFlags, nil)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(c.Context)
	defer stop()
	table, limit := NewTable(), o.limit // not of the filter: who needs the user is not always the newest
	if err := listFill(ctx, call, table, o); err != nil {
		return err
	}
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
		return render.Frame(sessions, warnings, style, rows)
	}}
	err = screen.Show(ctx)
	stop()
	return table.Finish(f, err)
}

// listFill has the table updated by this machine or by others.
func listFill(ctx context.Context, c *Call, table *Table, o *listOptions) error {
	newWatcher := func() (*watch.Watcher, error) {
		filter, err := listSelection(c, o)
		if err != nil {
			return nil, err
		}
		filter.Limit = 0
		return watch.NewFilterWatcher(c.Scanner, filter), nil
	}
	if c.OnHosts() {
		if _, err := listSelection(c, o); err != nil {
			return err
		}
	}
	return table.Follow(ctx, c, newWatcher, func(call HostCall) HostCall { return call.Without("n") })
}

// streamRows prints the sessions for the table of another machine, whenever they have changed.
func streamRows(ctx context.Context, f Factory, o *listOptions) error {
	c, err := f.NewCall("list", &o.CommonFlags, nil)
	if err != nil {
		return err
	}
	filter, err := listSelection(c, o)
	if err != nil {
		return err
	}
	filter.Limit = 0
	var last []byte
	return EachResult(ctx, watch.NewFilterWatcher(c.Scanner, filter), func(r discover.Result) (bool, error) {
		_ = c.ReportWarnings(r.Warnings)
		rows := object.SessionRows{Sessions: SessionObjects(r.Sessions)}
		var line bytes.Buffer
		if err := render.JSONLine(&line, rows); err != nil || bytes.Equal(line.Bytes(), last) {
			return true, err
		}
		last = line.Bytes()
		_, err := f.Stdout.Write(last)
		return true, err
	})
}
