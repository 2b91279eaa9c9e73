package cli

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/discover/watch"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/internal/terminal"
)

type topOptions struct {
	CommonFlags
	scope Scope
}

func topCommand(env Env) *cli.Command {
	o := &topOptions{}
	return &cli.Command{
		Usage: "show the live sessions full screen: move, filter, look into one, act on it",
		Description: "The table is that of list, updated; the pane below or beside it is what another command prints of the\n" +
			"selected session. Each action is a command of agentctl, whose command line is shown. ? lists the keys.",
		Flags: slices.Concat([]cli.Flag{AdapterFlag(&o.AdapterNames)}, o.scope.Flags("only"), []cli.Flag{NoColorFlag(&o.NoColor)}),
		CustomHelpTemplate: HelpTemplate(
			"agentctl top", "agentctl top --cwd ~/src/api --no-color", "agentctl top --all-hosts",
		),
		Action: func(c *cli.Context) error { return runTop(c, env, o) },
	}
}

func runTop(c *cli.Context, env Env, o *topOptions) error {
	in, out, ok := Terminal(env)
	if !ok {
		return NewUsageError("top needs a terminal that can be redrawn", "agentctl list prints the sessions once")
	}
	call, err := env.NewCall("top", &o.CommonFlags, nil)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(c.Context)
	defer stop()
	table := NewTable(stop)
	err = table.Follow(ctx, call, func() (*watch.Watcher, error) {
		match, err := o.scope.Match("top")
		return watch.NewFilterWatcher(call.Scanner, discover.SessionFilter{Agents: call.Agents, WaitingFirst: true, Condition: match}), err
	}, func(call HostCall) HostCall {
		call.Flags = append([]string{"list"}, call.Flags[1:]...)
		return call.WithFlags("--watch")
	})
	if err != nil {
		return err
	}
	m := newModel(call, table)
	if getenv := env.Getenv; o.NoColor { // for the commands
		env.Getenv = func(key string) string {
			if key == "NO_COLOR" {
				return "1"
			}
			return getenv(key)
		}
	}
	m.runner = runner{verb: Run, env: env, arguments: flagsOf(c, "home", "all-users"), hosts: flagsOf(c, "host", "all-hosts")}
	m.ctx = ctx
	table.start(func() { m.sampler.run(ctx) })
	table.start(func() { m.pane.load(ctx, m.runner, table.notify) })
	screen := terminal.Screen{In: in, Out: out, Changed: table.Changed, Interval: drawInterval, Frame: m.frame, Typed: m.typed}
	err = screen.Show(ctx)
	stop()
	return table.Finish(env, err)
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
	// quietInterval is the least time between two looks for quiet sessions, which read what all running sessions have open.
	quietInterval = 30 * time.Second
	// costShare bounds the time that a question to git takes: one part in costShare. treeShare and tokensShare bound the building of process
	// trees and the reading of tokens, which are due only when something has happened.
	costShare, treeShare, tokensShare = 50, 100, 50
	// rateSpan is the time over which tokens a minute are counted.
	rateSpan = time.Minute

	// paneShare is the pause after a command for the pane as a multiple of its duration, at least panePause.
	paneShare = 20
	panePause = 250 * time.Millisecond
)

// topModel is the state of the screen: what is shown, selected, marked and typed.
type topModel struct {
	call    *Call
	table   *Table
	sampler *sampler
	pane    *pane
	runner  runner
	// ctx ends with the program.
	ctx context.Context //nolint:containedctx // for the goroutines that keys start

	mu       sync.Mutex
	rows     []row
	warnings []string
	known    bool
	paused   bool
	selected rowKey
	marked   map[rowKey]bool
	order    int // of orders()
	filter   string
	first    int // the first row shown
	page     int // how many rows were shown last
	paneRoom int // how many lines of the pane's content were shown last

	open string // the name of the view in the pane; "" for none
	// reports are those of the commands that have acted since the pane had none that ran.
	reports []*report
	scroll  int // lines of the pane, from where it begins
	help    bool
	prompt  *prompt
	notice  string // shown instead of the keys until the next key
}

// row is a session with what is measured of it.
type row struct {
	key  rowKey
	s    object.Session
	load render.Load
}

func newModel(call *Call, table *Table) *topModel {
	return &topModel{
		call: call, table: table, sampler: newSampler(call, table), pane: &pane{wake: make(chan struct{}, 1)}, marked: map[rowKey]bool{},
	}
}

// update takes the newest rows, unless it is paused. The selected row stays the selected one wherever it goes; if it is gone, the
// one in its place is.
func (t *topModel) update() {
	if t.paused && t.known {
		return
	}
	var sessions []object.Session
	sessions, t.warnings, t.known = t.table.Sessions(t.call.Now())
	at := t.index()
	all := make([]row, 0, len(sessions))
	for _, s := range sessions {
		load := t.sampler.load(&s)
		all = append(all, row{rowKeyOf(&s), s, load})
	}
	maps.DeleteFunc(t.marked, func(k rowKey, _ bool) bool {
		return !slices.ContainsFunc(all, func(r row) bool { return r.key == k })
	})
	t.rows = slices.DeleteFunc(all, func(r row) bool { return !matches(&r.s, t.filter) })
	if by := orders()[t.order].compare; by != nil {
		slices.SortStableFunc(t.rows, by)
	}
	if len(t.rows) > 0 && t.index() < 0 {
		t.selected = t.rows[min(max(at, 0), len(t.rows)-1)].key
	}
}

// index is that of the selected row; -1 if there is none.
func (t *topModel) index() int {
	return slices.IndexFunc(t.rows, func(r row) bool { return r.key == t.selected })
}

// move selects the row so many rows below.
func (t *topModel) move(by int) {
	if len(t.rows) > 0 {
		t.selected = t.rows[min(max(t.index()+by, 0), len(t.rows)-1)].key
	}
}

// targets are the rows that an action is about: the marked ones, else the selected one.
func (t *topModel) targets() (list []row) {
	for _, r := range t.rows {
		if t.marked[r.key] {
			list = append(list, r)
		}
	}
	if i := t.index(); len(list) == 0 && i >= 0 {
		list = t.rows[i : i+1]
	}
	return list
}

// arguments are those that mean the sessions of these rows alone: IDs, or pid:N of a session without one.
func (t *topModel) arguments(rows []row) (args []string) {
	all := make([]object.Session, len(t.rows))
	for i, r := range t.rows {
		all[i] = r.s
	}
	names := ArgumentsFor(all)
	for _, r := range rows {
		i := slices.IndexFunc(t.rows, func(o row) bool { return o.key == r.key })
		args = append(args, cmp.Or(names[i], r.s.Name()))
	}
	return args
}

// matches reports whether a session has all words of a filter, in whatever case: in its agent, ID, status, directory, title,
// prompt, model, branch, group, host, or in what it waits on.
func matches(s *object.Session, filter string) bool {
	text := strings.ToLower(strings.Join([]string{
		s.Adapter, s.Name(), s.Status, s.WaitingFor, s.CWD, s.Title, s.Prompt, s.Model, s.Branch, s.Group, render.WaitingOnText(s), s.Host,
	}, "\n"))
	for word := range strings.FieldsSeq(strings.ToLower(filter)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}
