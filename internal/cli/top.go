package cli

import (
	"context"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/discover/watch"
	"agentctl/internal/terminal"
)

// TopVerb runs one command line of this program, without the program's name, and returns its exit code.
type TopVerb func(ctx context.Context, f Env, args ...string) int

type topOptions struct {
	CommonFlags
	scope Scope
}

// topCommand makes the command top. Its actions are commands of this program, which run calls.
func topCommand(f Env, run TopVerb) *cli.Command {
	o := &topOptions{}
	return &cli.Command{
		Usage:     "show the live sessions full screen: move, filter, look into one, act on it",
		UsageText: "agentctl top [FLAGS]",
		Description: "The table is that of list, updated; the pane below or beside it is what another command prints of the\n" +
			"selected session. Each action is a command of agentctl, whose command line is shown. ? lists the keys.",
		Flags: slices.Concat([]cli.Flag{AdapterFlag(&o.AdapterNames)}, o.scope.Flags("only"), []cli.Flag{NoColorFlag(&o.NoColor)}),
		CustomHelpTemplate: HelpTemplate(
			"agentctl top", "agentctl top --cwd ~/src/api --no-color", "agentctl top --all-hosts",
		),
		Action: func(c *cli.Context) error { return topShow(c, f, o, run) },
	}
}

func topShow(c *cli.Context, f Env, o *topOptions, run TopVerb) error {
	in, out, ok := Terminal(f)
	if !ok {
		return NewUsageError("top needs a terminal that can be redrawn", "agentctl list prints the sessions once")
	}
	call, err := f.NewCall("top", &o.CommonFlags, nil)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(c.Context)
	defer stop()
	table := NewTable()
	if err := topFill(ctx, call, table, o); err != nil {
		return err
	}
	m := newModel(call, table)
	m.runner = runner{verb: run, env: f, arguments: flagsOf(c, "home", "all-users"), hosts: flagsOf(c, "host", "all-hosts"), colorless: o.NoColor}
	m.ctx = ctx
	table.start(func() { m.sampler.run(ctx) })
	table.start(func() { m.pane.load(ctx, m.runner, table.Changed.notify) })
	screen := terminal.Screen{In: in, Out: out, Changed: table.Changed.c, Interval: drawInterval, Frame: m.frame, Typed: m.typed}
	err = screen.Show(ctx)
	stop()
	return table.Finish(f, err)
}

// topFill has the table updated by this machine or by others.
func topFill(ctx context.Context, c *Call, table *Table, o *topOptions) error {
	newWatcher := func() (*watch.Watcher, error) {
		match, err := o.scope.Match("top")
		if err != nil {
			return nil, err
		}
		return watch.NewFilterWatcher(c.Scanner, discover.SessionFilter{Agents: c.Agents, WaitingFirst: true, Condition: match}), nil
	}
	return table.Follow(ctx, c, newWatcher, func(call HostCall) HostCall { return call.AsVerb("list").WithFlags("--watch") })
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

// All times of the package, each with its reason.
const (
	// drawInterval is how often the screen is drawn without an event: ages and processor use change all the time.
	drawInterval = 500 * time.Millisecond
	// sampleInterval is the time between two samples of processor use, whose clock counts in hundredths of a second: shorter ones
	// would be too coarse.
	sampleInterval = 2 * time.Second
	// changesInterval is the least time between two questions to git for the uncommitted changes: they take two processes for each
	// directory.
	changesInterval = 15 * time.Second
	// costShare bounds the time that a question to git takes: one part in costShare. treeShare and tokensShare bound the building of process
	// trees and the reading of tokens, which are due only when something has happened.
	costShare, treeShare, tokensShare = 500, 100, 50
	// rateSpan is the time over which tokens a minute are counted.
	rateSpan = time.Minute

	// paneShare is the pause after a command for the pane as a multiple of its duration, at least panePause.
	paneShare = 20
	panePause = 250 * time.Millisecond
)
