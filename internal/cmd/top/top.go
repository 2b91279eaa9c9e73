// Package top is the command top.
package top

import (
	"context"
	"slices"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/discover/watch"
	"agentctl/internal/cmdutil"
	"agentctl/internal/cmdutil/live"
	"agentctl/internal/terminal"
)

// Verb runs one command line of this program, without the program's name, and returns its exit code.
type Verb func(ctx context.Context, f cmdutil.Factory, args ...string) int

type options struct {
	cmdutil.CommonFlags
	scope cmdutil.Scope
}

// New makes the command top. Its actions are commands of this program, which run calls.
func New(f cmdutil.Factory, run Verb) *cli.Command {
	o := &options{}
	return &cli.Command{
		Usage:     "show the live sessions full screen: move, filter, look into one, act on it",
		UsageText: "agentctl top [FLAGS]",
		Description: "The table is that of list, updated; the pane below or beside it is what another command prints of the\n" +
			"selected session. Each action is a command of agentctl, whose command line is shown. ? lists the keys.",
		Flags: slices.Concat([]cli.Flag{cmdutil.AdapterFlag(&o.AdapterNames)}, o.scope.Flags("only"), []cli.Flag{cmdutil.NoColorFlag(&o.NoColor)}),
		CustomHelpTemplate: cmdutil.HelpTemplate(
			"agentctl top", "agentctl top --cwd ~/src/api --no-color", "agentctl top --all-hosts",
		),
		Action: func(c *cli.Context) error { return show(c, f, o, run) },
	}
}

func show(c *cli.Context, f cmdutil.Factory, o *options, run Verb) error {
	in, out, ok := live.Terminal(f)
	if !ok {
		return cmdutil.NewUsageError("top needs a terminal that can be redrawn", "agentctl list prints the sessions once; agentctl list --watch needs no keys but q")
	}
	call, err := f.NewCall("top", &o.CommonFlags, nil)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(c.Context)
	defer stop()
	table := live.NewTable()
	if err := fill(ctx, call, table, o); err != nil {
		return err
	}
	m := newModel(call, table)
	m.runner = runner{verb: run, factory: f, arguments: flagsOf(c, "home", "all-users"), hosts: flagsOf(c, "host", "all-hosts"), colorless: o.NoColor}
	beside := startBackground(ctx, m, table)
	screen := terminal.Screen{In: in, Out: out, Changed: m.changed.c, Interval: drawInterval, Frame: m.frame, Typed: m.typed}
	err = screen.Show(ctx)
	stop()
	beside.wait()
	return table.Finish(f, err)
}

// fill has the table updated by this machine or by others.
func fill(ctx context.Context, c *cmdutil.Call, table *live.Table, o *options) error {
	newWatcher := func() (*watch.Watcher, error) {
		match, err := o.scope.Match("top")
		if err != nil {
			return nil, err
		}
		return watch.NewFilterWatcher(c.Scanner, discover.SessionFilter{Agents: c.Agents, WaitingFirst: true, Condition: match}), nil
	}
	return table.Follow(ctx, c, newWatcher, func(call cmdutil.HostCall) cmdutil.HostCall { return call.As("list").With("--watch") })
}

// flagsOf are the flags of top with a value or none, of those named, as arguments of another command.
func flagsOf(c *cli.Context, list, boolean string) (args []string) {
	for _, value := range c.StringSlice(list) {
		args = append(args, "--"+list, value)
	}
	if c.Bool(boolean) {
		args = append(args, "--"+boolean)
	}
	return args
}
