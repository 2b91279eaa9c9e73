package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/config"
	"agentctl/internal/object"
	"agentctl/internal/remote"
	"agentctl/internal/render"
	"agentctl/launch"
	"agentctl/launch/worktree"
)

type launchOptions struct {
	PromptOptions
	Options
	agentOptions
	dir, name, group string
	vars             cli.StringSlice
}

func launchCommand(f Env) *cli.Command {
	o := &launchOptions{}
	return &cli.Command{
		Usage:     "start an agent with a prompt, and print the ID of its session",
		UsageText: "agentctl launch [AGENT] -p PROMPT [FLAGS] [-- AGENT-FLAGS]",
		Description: "AGENT is " + agentChoice(f.AgentNames()) + ". It runs in the background, independent of this\n" +
			"terminal. Arguments after -- go to it unchanged.",
		ArgsUsage: "[AGENT] [-- AGENT-FLAGS]",
		Flags: slices.Concat(o.PromptOptions.Flags(), []cli.Flag{
			&cli.StringFlag{Name: "from", Usage: "put what was said in the session `ID`, of any agent, before the prompt: its newest part within --max-file-size, without keys and passwords", Destination: &o.From},
			&cli.StringFlag{Name: "cwd", Usage: "work in `DIR`", Destination: &o.dir},
			&cli.StringFlag{Name: "name", Usage: "give the session the title `NAME`", Destination: &o.name},
			&cli.StringFlag{Name: "group", Usage: "add the session to the group `G`", Destination: &o.group},
			ListFlag("env", "set a variable for the agent: `K=V`", &o.vars),
		}, o.agentOptions.flags(f), o.Options.Flags()),
		CustomHelpTemplate: HelpTemplate(
			`agentctl launch codex --cwd ~/src/api -p "make the tests pass"`,
			`agentctl launch -p "fix the login test" --permissions edit --wait --max-time 30m`,
			`agentctl launch -p "port the parser" --adapter claude-code --adapter codex --group parser`,
		),
		Action: func(c *cli.Context) error {
			args, rest := SplitPassed(c.Args().Slice())
			if len(args) > 1 {
				return UsageError("launch", "launch does not take the argument %q; the prompt follows -p, the agent's own flags follow --", args[1])
			}
			return runLaunch(c.Context, f, args, rest, o)
		},
	}
}

// agentChoice lists names for the help, the default first.
func agentChoice(names []string) string {
	text := strings.Replace(strings.Join(names, ", "), ",", " (the default),", 1)
	if last := strings.LastIndex(text, ", "); last >= 0 {
		text = text[:last] + " or " + text[last+len(", "):]
	}
	return text
}

func runLaunch(ctx context.Context, f Env, args, rest []string, o *launchOptions) error {
	c, calls, err := f.NewHostCall("launch", &o.CommonFlags, nil, nil)
	if err != nil {
		return err
	}
	l := launcher{Starter: Starter{Call: c, Options: &o.Options}, request: launch.Request{Name: o.name, Args: rest}}
	if calls != nil {
		call, err := o.hostCall(ctx, c, calls, args, rest)
		switch calls = []HostCall{call}; {
		case err != nil:
			return err
		case o.isGroup():
			return l.launchGroupOn(ctx, calls)
		}
		return l.StartOne(ctx, calls, "", nil)
	}
	if err := o.Check("launch"); err != nil {
		return err
	}
	if err := o.checkAgents(args); err != nil {
		return err
	}
	var one launch.Member
	var members []launch.Member
	if o.isGroup() {
		members, err = o.members(f)
	} else {
		one, err = o.agent(f, args)
	}
	if err != nil {
		return err
	}
	if l.request.Permissions, err = o.Permitted("launch"); err != nil {
		return err
	}
	if l.request.Dir, err = WorkDir("launch", o.dir); err != nil {
		return err
	}
	if o.From != "" {
		if err := o.ReadFrom(ctx, c, "launch"); err != nil {
			return err
		}
	}
	if l.request.Prompt, err = o.Text(ctx, f, "launch", l.request.Dir); err != nil {
		return err
	}
	if err := l.chooseWorktrees(o); err != nil {
		return err
	}
	if l.request.Variables, err = Variables(o.vars.Value(), l.group.Name); err != nil {
		return err
	}
	if o.isGroup() {
		return l.launchGroup(ctx, members)
	}
	return l.launchOne(ctx, one)
}

// choice is an agent, and the model that it is to use; "" leaves the model to the agent.
type choice struct{ agent, model string }

// agentOptions has the flags that say which agents to launch, and where: one agent, or several in worktrees of their
// own.
type agentOptions struct {
	// chosen are the --adapter flags in their order, each with the --model that follows it.
	chosen []choice
	// model is the --model of the agent that is named as an argument.
	model                          string
	matrix, worktree, branch, base string
}

func (a *agentOptions) flags(f Env) []cli.Flag {
	return []cli.Flag{
		&cli.GenericFlag{Name: "adapter", Usage: "launch this `AGENT`; if repeated, each one in its own worktree", Value: flagFunc(func(agent string) error {
			a.chosen = append(a.chosen, choice{agent: agent})
			return nil
		})},
		&cli.GenericFlag{Name: "model", Usage: "use `MODEL`, by the agent's name for it; applies to the --adapter before it", Value: flagFunc(a.setModel)},
		&cli.StringFlag{Name: "matrix", Usage: "launch what `FILE` describes, each launch in its own worktree", Destination: &a.matrix},
		&OptionalValueFlag{StringFlag: cli.StringFlag{Name: "worktree", Usage: "work in a new worktree of `REPO` (default: the repository that contains --cwd)", Destination: &a.worktree}, Default: currentRepo, IsArgument: f.isAgent},
		&cli.StringFlag{Name: "branch", Usage: "use the branch `B` in the worktree; implies --worktree", Destination: &a.branch},
		&cli.StringFlag{Name: "base-branch", Usage: "start new branches at `B` (default: the commit of --cwd)", Destination: &a.base},
	}
}

// flagFunc is a flag whose values a function takes.
type flagFunc func(string) error

func (f flagFunc) Set(value string) error { return f(value) }

func (f flagFunc) String() string { return "" }

func (a *agentOptions) setModel(model string) error {
	of := &a.model
	if last := len(a.chosen) - 1; last >= 0 {
		of = &a.chosen[last].model
	}
	if *of != "" {
		return errors.New("an agent takes one model; repeat --adapter for each")
	}
	*of = model
	return nil
}

// currentRepo is the value of --worktree without one.
const currentRepo = "."

// isGroup reports whether the flags describe a launch group: several agents, or a matrix of one or more.
func (l *launchOptions) isGroup() bool { return len(l.chosen) > 1 || l.matrix != "" }

// checkAgents refuses flags that do not go together.
func (l *launchOptions) checkAgents(args []string) error {
	switch group := l.isGroup(); {
	case len(args) > 0 && (len(l.chosen) > 0 || l.matrix != ""), len(l.chosen) > 0 && l.matrix != "":
		return UsageError("launch", "an agent as argument, --adapter and --matrix cannot be used together")
	case len(l.chosen) > 0 && l.model != "":
		return UsageError("launch", "--model %s must follow the --adapter that it is for", l.model)
	case group && l.branch != "":
		return UsageError("launch", "--branch is for one agent; several have a branch each")
	case group && l.Output != "":
		return UsageError("launch", "--output is for one agent")
	case l.base != "" && !group && l.worktree == "" && l.branch == "":
		return UsageError("launch", "--base-branch needs --worktree")
	}
	return nil
}

// agent returns the one agent to launch: the argument, that of --adapter, or the default.
func (l *launchOptions) agent(f Env, args []string) (launch.Member, error) {
	c := choice{f.AgentNames()[0], l.model}
	for _, name := range args {
		c.agent = name
	}
	for _, chosen := range l.chosen {
		c = chosen
	}
	adapter, err := Adapter(f, c.agent)
	m := launch.Member{Adapter: adapter, Model: c.model, Branch: l.branch, Base: l.base}
	if err == nil {
		m.Name = m.ShortName()
	}
	return m, err
}

// members returns the members of the launch group: the agents of --adapter, or one for every model of every row of the matrix.
func (l *launchOptions) members(f Env) ([]launch.Member, error) {
	var rows []config.MatrixRow
	for _, c := range l.chosen {
		rows = append(rows, config.MatrixRow{Agent: c.agent, Models: []string{c.model}})
	}
	if l.matrix != "" {
		m, err := config.LoadMatrix(l.matrix, f.Getenv("HOME"), f.AgentNames())
		if err != nil {
			return nil, err
		}
		rows = l.applyMatrix(m)
	}
	var members []launch.Member
	for _, row := range rows {
		adapter, err := Adapter(f, row.Agent)
		if err != nil {
			return nil, err
		}
		m := launch.Member{Adapter: adapter, Branch: row.Branch, Base: cmp.Or(row.Base, l.base)}
		if len(row.Models) == 0 {
			members = append(members, m)
		}
		for _, m.Model = range row.Models {
			members = append(members, m)
		}
	}
	launch.NameMembers(members)
	return members, nil
}

// applyMatrix takes from a matrix what no flag sets, and returns its rows.
func (l *launchOptions) applyMatrix(m config.Matrix) []config.MatrixRow {
	if l.Prompt == "" && l.PromptFile == "" {
		l.Prompt, l.Literal = m.Prompt, m.Prompt != ""
	}
	if m.Dir != "" && l.dir == "" {
		l.dir = m.Dir
	}
	if l.Spec == "" {
		l.Spec = m.Spec
	}
	return m.Rows
}

// hostCall is the launch on another machine. The prompt is put together on this machine, from its files, and goes there by stdin; all other names of
// files and directories are the host's.
func (l *launchOptions) hostCall(ctx context.Context, c *Call, calls []HostCall, args, rest []string) (HostCall, error) {
	switch {
	case len(calls) != 1:
		return HostCall{}, UsageError("launch", "launch takes one host, not %d", len(calls))
	case l.dir == "":
		return HostCall{}, UsageError("launch", "launch on a host needs --cwd DIR, a directory there: absolute, or relative to the home directory there")
	case l.matrix != "":
		return HostCall{}, UsageError("launch", "--matrix and --host cannot be used together; repeat --adapter")
	}
	if err := l.CheckFlags("launch"); err != nil {
		return HostCall{}, err
	}
	call := calls[0].WithoutFlags("from")
	if name, id, ok := remote.SplitID(l.From); ok && name == call.Target.Name {
		call = call.WithFlags("--from=" + id)
	} else if l.From != "" {
		if err := l.ReadFrom(ctx, c, "launch"); err != nil {
			return HostCall{}, err
		}
	}
	call, err := l.WithPrompt(ctx, c.Env, "launch", call)
	if err != nil {
		return HostCall{}, err
	}
	end := slices.Index(call.Args, "--")
	call.Args = slices.Concat(call.Args[:1], args, call.Args[1:end])
	if rest != nil { // it goes to the agent
		call.Args = append(append(call.Args, "--"), rest...)
	}
	return call, nil
}

// launchGroupOn launches several agents on a host, each in a worktree of its own there.
func (l *launcher) launchGroupOn(ctx context.Context, calls []HostCall) error {
	launches, after, err := Collect[object.LaunchResult](ctx, l.Call, calls, nil)
	if err == nil && len(launches) > 0 {
		err = l.printLaunches(launches)
	}
	return cmp.Or(err, after())
}

func (l *launcher) printLaunches(launches []object.LaunchResult) error {
	if l.JSON {
		return render.JSONArray(l.Stdout, launches)
	}
	return render.LaunchTable(l.Stdout, launches, l.Style)
}

// launcher starts agents, each in a worktree of its own if that is asked for.
type launcher struct {
	Starter
	// request is what each agent is asked.
	request launch.Request
	group   worktree.Group
	// repoDir is in the repository of the worktrees; "" if the agents work in the directory of the request. repo is set by
	// openRepository.
	repoDir string
	repo    *worktree.Repo
}

// chooseWorktrees sets the repository of the worktrees, if there are to be any, and the group.
func (l *launcher) chooseWorktrees(o *launchOptions) error {
	l.group = worktree.Group{Name: o.group, NameInDir: o.group != "" || o.matrix != ""}
	if !o.isGroup() && o.worktree == "" && o.branch == "" {
		return nil
	}
	l.repoDir = l.request.Dir
	if o.worktree != "" && o.worktree != currentRepo {
		l.repoDir = o.worktree
	}
	l.group.Name = cmp.Or(o.group, worktree.NewGroupID())
	if !discover.IsGroupName(l.group.Name) {
		return UsageError("launch", "--group %q must not contain /, -- or -try-: it becomes part of branches and directories", l.group.Name)
	}
	return nil
}

// openRepository opens the repository of the worktrees, if there are to be any.
func (l *launcher) openRepository(ctx context.Context) (err error) {
	if l.repoDir != "" {
		l.repo, err = l.OpenRepository(ctx, "launch", l.repoDir)
	}
	return err
}

func (l *launcher) launchOne(ctx context.Context, m launch.Member) error {
	return l.StartOne(ctx, nil, m.Adapter.Name(), func(ctx context.Context, proven func(object.Session) error) (*Launched, error) {
		if err := l.openRepository(ctx); err != nil {
			return nil, err
		}
		a := l.place(ctx, m)
		if a.err == nil {
			l.start(ctx, a, proven)
		}
		return a.launched, a.err
	})
}

// attempt is a member whose launch is tried, and what became of it.
type attempt struct {
	launch.Member
	// dir is the directory that it works in.
	dir string
	// worktree is the member's own; the zero value if there is none.
	worktree worktree.CreateResult
	launched *Launched // nil: nothing was started
	answer   string
	err      error
}

// place finds the directory for a member, in a new worktree if there are to be any.
func (l *launcher) place(ctx context.Context, m launch.Member) *attempt {
	a := &attempt{Member: m, dir: l.request.Dir}
	if l.repo == nil {
		return a
	}
	a.worktree, a.dir, a.err = l.repo.CreateForMember(ctx, l.group, m, l.request.Dir)
	if errors.Is(a.err, worktree.ErrBadName) || errors.Is(a.err, worktree.ErrNoCommit) && m.Base != "" {
		a.err = UsageError("launch", "%v", a.err)
	}
	return a
}

// start starts a member. If that fails, its worktree is removed, unless the agent goes on there.
func (l *launcher) start(ctx context.Context, a *attempt, proven func(object.Session) error) {
	request := l.request
	request.Model, request.Dir = a.Model, a.dir
	a.launched, a.err = l.Start(ctx, a.Adapter, request, proven)
	_, ended := errors.AsType[*launch.AgentFailedError](a.err)
	if a.err != nil && a.worktree.New && (a.launched == nil || ended) {
		a.err = errors.Join(a.err, l.removeWorktree(context.WithoutCancel(ctx), a.worktree))
	}
}

// removeWorktree removes the worktree of a launch that failed, unless there is work in it.
func (l *launcher) removeWorktree(ctx context.Context, made worktree.CreateResult) error {
	err := l.repo.Remove(ctx, made.Worktree, worktree.RemoveOptions{DeleteBranch: made.NewBranch})
	if refused := (*worktree.RefusedError)(nil); errors.As(err, &refused) {
		l.Warn(fmt.Sprintf("%s was kept: %v", made.Path, err))
		return nil
	}
	return err
}

// launchGroup launches the members of a group. A failure is reported; the other launches continue.
func (l *launcher) launchGroup(ctx context.Context, members []launch.Member) error {
	working, stop := Interruptible(ctx) // until the command ends, so that no signal is missed between two steps
	defer stop()
	endProgress := l.Progress("waiting for the sessions")
	defer endProgress()
	if err := l.openRepository(working); err != nil {
		return err
	}
	var all []*attempt
	for _, m := range members {
		all = append(all, l.place(working, m))
	}
	parallel(all, func(a *attempt) { l.start(working, a, nil) })
	endProgress()
	var launched []*Launched
	for _, a := range all {
		if a.launched != nil {
			defer a.launched.Close()
			launched = append(launched, a.launched)
		}
	}
	l.PrintHints(ctx, launched...)
	return l.report(working, all)
}

// parallel calls do at the same time for all members that have not failed.
func parallel(all []*attempt, do func(*attempt)) {
	var wg sync.WaitGroup
	for _, a := range all {
		if a.err == nil {
			wg.Go(func() { do(a) })
		}
	}
	wg.Wait()
}

// errSome says that some launches of a group, or their turns, failed; each failure was reported.
var errSome = errors.New("some of them failed")

// report prints the launches of a group, waits for them with --wait, and returns an error if one failed.
func (l *launcher) report(ctx context.Context, all []*attempt) error {
	if !l.JSON {
		if err := l.printLaunches(l.objects(all)); err != nil {
			return err
		}
	}
	if l.Wait {
		parallel(all, func(a *attempt) { l.awaitEnd(ctx, a) })
	}
	if l.JSON {
		if err := l.printLaunches(l.objects(all)); err != nil {
			return err
		}
	}
	var worst error
	for _, a := range all {
		switch {
		case errors.Is(a.err, context.Canceled): // what continues was reported
			worst = context.Canceled
		case a.err != nil:
			worst = cmp.Or(worst, errSome)
			l.Report.Failure(a.Name + ": " + a.err.Error())
		}
	}
	return worst
}

// awaitEnd waits for the end of a member's turn.
func (l *launcher) awaitEnd(ctx context.Context, a *attempt) {
	if a.err = a.launched.WaitForEnd(ctx); a.err == nil && l.JSON {
		a.answer = a.launched.ReadAnswer(ctx)
	}
	if !errors.Is(a.err, context.Canceled) {
		a.err = errors.Join(a.err, a.launched.RunOnComplete(ctx, a.err))
	}
}

func (l *launcher) objects(all []*attempt) (out []object.LaunchResult) {
	for _, a := range all {
		o := object.LaunchResult{
			Name: a.Name, Adapter: string(a.Adapter.Name()), Model: a.Model, Group: l.group.Name, Branch: a.worktree.Branch, Answer: a.answer,
		}
		if a.launched != nil {
			o.CWD = a.dir
			if a.launched.Session.ID != "" {
				o.Session = new(object.NewSession(a.launched.Session))
			}
		}
		switch {
		case errors.Is(a.err, context.Canceled):
			o.Error = "interrupted"
		case a.err != nil:
			o.Error = a.err.Error()
		}
		out = append(out, o)
	}
	return out
}
