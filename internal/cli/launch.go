package cli

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentctl/internal/config"
	"agentctl/internal/object"
	"agentctl/internal/remote"
	"agentctl/launch"
)

type launchOptions struct {
	PromptOptions
	StartOptions
	dir, name, group string
	vars             cli.StringSlice
	// chosen are the --adapter flags in their order, each with the --model that follows it. Without one, the agent chooses the model.
	chosen []config.MatrixRow
	// models has the --model of the agent that is named as an argument.
	models                         []string
	matrix, worktree, branch, base string
}

func launchCommand(env Env) *cli.Command {
	o := &launchOptions{}
	return &cli.Command{
		Usage:     "start an agent with a prompt, and print the ID of its session",
		UsageText: "agentctl launch [AGENT] -p PROMPT [FLAGS] [-- AGENT-FLAGS]",
		Description: "AGENT is " + agentChoice(env.AgentNames()) + ". It runs in the background, independent of this\n" +
			"terminal. Arguments after -- go to it unchanged.",
		ArgsUsage: "[AGENT] [-- AGENT-FLAGS]",
		Flags: slices.Concat(o.PromptOptions.Flags(), []cli.Flag{
			&cli.StringFlag{Name: "from", Usage: "put what was said in the session `ID`, of any agent, before the prompt: its newest part within --max-file-size, without keys and passwords", Destination: &o.From},
			&cli.StringFlag{Name: "cwd", Usage: "work in `DIR`", Destination: &o.dir},
			&cli.StringFlag{Name: "name", Usage: "give the session the title `NAME`", Destination: &o.name},
			&cli.StringFlag{Name: "group", Usage: "add the session to the group `G`", Destination: &o.group},
			ListFlag("env", "set a variable for the agent: `K=V`", &o.vars),
			&cli.GenericFlag{Name: "adapter", Usage: "launch this `AGENT`; if repeated, each one in its own worktree", Value: flagFunc(func(agent string) error {
				o.chosen = append(o.chosen, config.MatrixRow{Agent: agent})
				return nil
			})},
			&cli.GenericFlag{Name: "model", Usage: "use `MODEL`, by the agent's name for it; applies to the --adapter before it", Value: flagFunc(o.setModel)},
			&cli.StringFlag{Name: "matrix", Usage: "launch what `FILE` describes, each launch in its own worktree", Destination: &o.matrix},
			&OptionalValueFlag{StringFlag: cli.StringFlag{Name: "worktree", Usage: "work in a new worktree of `REPO` (default: the repository that contains --cwd)", Destination: &o.worktree}, Default: currentRepo, IsArgument: env.isAgent},
			&cli.StringFlag{Name: "branch", Usage: "use the branch `B` in the worktree; implies --worktree", Destination: &o.branch},
			&cli.StringFlag{Name: "base-branch", Usage: "start new branches at `B` (default: the commit of --cwd)", Destination: &o.base},
		}, o.StartOptions.Flags()),
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
			return runLaunch(c.Context, env, args, rest, o)
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

func runLaunch(ctx context.Context, env Env, args, rest []string, o *launchOptions) error {
	c, calls, err := env.NewHostCall("launch", &o.CommonFlags, nil, nil)
	if err == nil {
		err = cmp.Or(o.Check(ctx, c, "launch", calls != nil), o.checkAgents(args))
	}
	if err == nil && calls != nil {
		calls, err = o.hostCall(ctx, c, calls, args, rest)
	}
	if err != nil {
		return err
	}
	l := &launcher{Starter: Starter{Call: c, StartOptions: &o.StartOptions}, request: launch.Request{Name: o.name, Args: rest}}
	if o.isGroup() {
		return l.launchGroup(ctx, calls, func() ([]launch.Member, error) { return l.prepare(ctx, o, args) })
	}
	return l.StartOne(ctx, calls, func(ctx context.Context, proven func(object.Session) error) (*Launched, error) {
		members, err := l.prepare(ctx, o, args)
		if err != nil {
			return nil, err
		}
		defer l.Progress("waiting for the session of " + string(members[0].Adapter.Name()))()
		a := l.place(ctx, members[0])
		if a.err == nil {
			l.start(ctx, a, proven)
		}
		return a.launched, a.err
	})
}

// prepare sets what is asked for on this machine, and returns the agents to launch.
func (l *launcher) prepare(ctx context.Context, o *launchOptions, args []string) ([]launch.Member, error) {
	members, err := o.members(l.Env, args)
	if err != nil {
		return nil, err
	}
	if l.request.Permissions, err = o.Permitted("launch"); err != nil {
		return nil, err
	}
	if l.request.Dir, err = WorkDir("launch", o.dir); err != nil {
		return nil, err
	}
	if o.From != "" {
		if err := o.ReadFrom(ctx, l.Call, "launch"); err != nil {
			return nil, err
		}
	}
	if l.request.Prompt, err = o.Text(ctx, l.Env, "launch", l.request.Dir); err != nil {
		return nil, err
	}
	if err := l.chooseWorktrees(ctx, o); err != nil {
		return nil, err
	}
	l.request.Variables, err = Variables(o.vars.Value(), l.group.Name)
	return members, err
}

// flagFunc is a flag whose values a function takes.
type flagFunc func(string) error

func (f flagFunc) Set(value string) error { return f(value) }

func (f flagFunc) String() string { return "" }

func (l *launchOptions) setModel(model string) error {
	of := &l.models
	if last := len(l.chosen) - 1; last >= 0 {
		of = &l.chosen[last].Models
	}
	if len(*of) > 0 {
		return errors.New("an agent takes one model; repeat --adapter for each")
	}
	*of = []string{model}
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
	case len(l.chosen) > 0 && len(l.models) > 0:
		return UsageError("launch", "--model %s must follow the --adapter that it is for", l.models[0])
	case group && l.branch != "":
		return UsageError("launch", "--branch is for one agent; several have a branch each")
	case group && l.Output != "":
		return UsageError("launch", "--output is for one agent")
	case l.base != "" && !group && l.worktree == "" && l.branch == "":
		return UsageError("launch", "--base-branch needs --worktree")
	}
	return nil
}

// members returns the agents to launch: those of --adapter, one for every model of every row of the matrix, the argument, or else the default. It
// takes from the matrix what no flag sets.
func (l *launchOptions) members(env Env, args []string) ([]launch.Member, error) {
	rows := l.chosen
	switch {
	case l.matrix != "":
		m, err := config.LoadMatrix(l.matrix, env.Getenv("HOME"), env.AgentNames())
		if err != nil {
			return nil, err
		}
		if l.Prompt == "" && l.PromptFile == "" {
			l.Prompt, l.Literal = m.Prompt, m.Prompt != ""
		}
		l.dir, l.Spec, rows = cmp.Or(l.dir, m.Dir), cmp.Or(l.Spec, m.Spec), m.Rows
	case len(rows) == 0:
		rows = []config.MatrixRow{{Agent: slices.Concat(args, env.AgentNames())[0], Models: l.models}}
	}
	var members []launch.Member
	for _, row := range rows {
		adapter, err := Adapter(env, row.Agent)
		if err != nil {
			return nil, err
		}
		m := launch.Member{Adapter: adapter, Branch: cmp.Or(row.Branch, l.branch), Base: cmp.Or(row.Base, l.base)}
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

// hostCall makes the call that launches on another machine. The prompt is put together on this machine, from its files, and goes there by stdin; all other
// names of files and directories are the host's.
func (l *launchOptions) hostCall(ctx context.Context, c *Call, calls []HostCall, args, rest []string) ([]HostCall, error) {
	switch {
	case len(calls) != 1:
		return nil, UsageError("launch", "launch takes one host, not %d", len(calls))
	case l.dir == "":
		return nil, UsageError("launch", "launch on a host needs --cwd DIR, a directory there: absolute, or relative to the home directory there")
	}
	call := calls[0].WithoutFlags("from")
	if name, id, ok := remote.SplitID(l.From); ok && name == call.Target.Name {
		call = call.WithFlags("--from=" + id)
	} else if l.From != "" {
		if err := l.ReadFrom(ctx, c, "launch"); err != nil {
			return nil, err
		}
	}
	call, err := l.WithPrompt(ctx, c.Env, "launch", call)
	if err != nil {
		return nil, err
	}
	call.Flags = slices.Concat(call.Flags[:1], args, call.Flags[1:])
	call.Arguments = rest // they go to the agent
	return []HostCall{call}, nil
}
