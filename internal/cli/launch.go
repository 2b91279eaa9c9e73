package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/render"
	"agentctl/launch"
)

type launchOptions struct {
	promptOptions
	startOptions
	slotOptions
	dir, name, group string
	vars             cli.StringSlice
}

// startOptions are what every start of an agent has in common.
type startOptions struct {
	permissions, output        string
	timeout                    time.Duration
	killOnTimeout, force, json bool
	waitOut
}

// idTimeout is how long a launch waits for the proof of its session: many times what the slowest agent takes.
const idTimeout = time.Minute

func (o *startOptions) flags() []cli.Flag {
	o.timeout = idTimeout
	return []cli.Flag{
		&cli.StringFlag{Name: "permissions", Usage: "what the agent may do without asking: `P` is own (as its configuration says), edit or full", Destination: &o.permissions},
		&cli.StringFlag{Name: "output", Usage: "append what the agent prints to `FILE` (default: discarded)", Destination: &o.output},
		spanFlag("timeout", "how long to wait for the session to appear: `D`", &o.timeout),
		&cli.BoolFlag{Name: "kill-on-timeout", Usage: "end the agent if its session does not appear in time", Destination: &o.killOnTimeout},
		&cli.BoolFlag{Name: "force", Usage: "start even if another session is working here", Destination: &o.force},
		&cli.BoolFlag{Name: "wait", Usage: "wait until the turn ends and print its answer; exit with its result", Destination: &o.wait},
		&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "with --wait: print the ID only, not the answer", Destination: &o.quiet},
		limitFlag("max-time", "with --wait: stop the session after `D`", &o.maxTime),
		&cli.StringFlag{Name: "on-create", Usage: "run the shell command `S` once the session has appeared", Destination: &o.onCreate},
		&cli.StringFlag{Name: "on-complete", Usage: "with --wait: run the shell command `S` when the turn has ended", Destination: &o.onComplete},
		jsonFlag(&o.json),
	}
}

func (o *startOptions) check(verb string) error {
	if o.output != "" {
		if err := isDirectory(filepath.Dir(o.output)); err != nil {
			return badUsage(verb, "--output: %v", err)
		}
	}
	return o.waitOut.check(verb, o.json)
}

func newLaunch(env Env) *cli.Command {
	o := &launchOptions{}
	return &cli.Command{
		Usage:     "start an agent on a prompt, and print the ID of its session",
		UsageText: "agentctl launch [AGENT] -p PROMPT [FLAGS] [-- AGENT-FLAGS]",
		Description: "AGENT is " + agentChoice(env.agentNames()) + ". It runs in the background, independent of this\n" +
			"terminal. Arguments after -- go to it unchanged.",
		ArgsUsage: "[AGENT] [-- AGENT-FLAGS]",
		Flags: slices.Concat(o.promptOptions.flags(), []cli.Flag{
			&cli.StringFlag{Name: "cwd", Usage: "work in `DIR`", Destination: &o.dir},
			&cli.StringFlag{Name: "name", Usage: "give the session the title `NAME`", Destination: &o.name},
			&cli.StringFlag{Name: "group", Usage: "add the session to the group `G`", Destination: &o.group},
			&cli.StringSliceFlag{Name: "env", Usage: "set a variable for the agent: `K=V` (may be repeated)", Destination: &o.vars},
		}, o.slotOptions.flags(), o.startOptions.flags()),
		Action: func(c *cli.Context) error {
			args, rest := passed(c.Args().Slice())
			if len(args) > 1 {
				return badUsage("launch", "launch does not take the argument %q; the prompt follows -p, the agent's own flags follow --", args[1])
			}
			return env.launch(c.Context, args, rest, o)
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

// passed parts arguments from what follows the --.
func passed(args []string) (own, rest []string) {
	if i := slices.Index(args, "--"); i >= 0 {
		return args[:i], args[i+1:]
	}
	return args, nil
}

func (env Env) launch(ctx context.Context, args, rest []string, o *launchOptions) error {
	if err := o.check("launch"); err != nil {
		return err
	}
	s, err := env.settings(false)
	if err != nil {
		return err
	}
	slots, err := env.slots(args, o)
	if err != nil {
		return err
	}
	base := launch.Request{Name: o.name, Args: rest}
	if base.Permissions, err = o.permitted("launch"); err != nil {
		return err
	}
	if base.Dir, err = workDir("launch", o.dir); err != nil {
		return err
	}
	if base.Prompt, err = o.text(ctx, env, "launch", base.Dir); err != nil {
		return err
	}
	for _, slot := range slots {
		agent, err := env.launcher(slot.Agent)
		if err != nil {
			return err
		}
		req := base
		req.Model = slot.model
		slot.st = &starting{agent: agent, req: req, startOptions: &o.startOptions, settings: s}
	}
	if o.apart(slots) {
		return env.launchApart(ctx, slots, o)
	}
	if slots[0].st.vars, err = variables(o.vars.Value(), o.group); err != nil {
		return err
	}
	return env.start(ctx, slots[0].st)
}

// launcher is the agent of that name.
func (env Env) launcher(name string) (launch.Agent, error) {
	chosen, err := env.chosenAgents([]string{name})
	if err != nil {
		return nil, err
	}
	for _, a := range env.Adapters {
		if l, ok := a.(launch.Agent); ok && slices.Contains(chosen, a.Name()) {
			return l, nil
		}
	}
	return nil, &launch.UnsupportedError{Agent: discover.Agent(name), What: "cannot be launched"}
}

// permitted checks --permissions.
func (o *startOptions) permitted(verb string) (launch.Permissions, error) {
	p := launch.Permissions(o.permissions)
	switch p {
	case "":
		return launch.Own, nil
	case launch.Own, launch.Edit, launch.Full:
		return p, nil
	}
	return "", badUsage(verb, "--permissions must be own, edit or full, not %q", o.permissions)
}

// workDir is the real path of the directory that an agent is to work in.
func workDir(verb, dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err == nil {
		err = isDirectory(dir)
	}
	if err != nil {
		return "", badUsage(verb, "--cwd: %v", err)
	}
	return dir, nil
}

// variables are what --env and --group set.
func variables(pairs []string, group string) ([]string, error) {
	var out []string
	if group != "" {
		out = append(out, discover.GroupKey+"="+group)
	}
	for _, pair := range pairs {
		key, _, ok := strings.Cut(pair, "=")
		if !ok || key == "" || strings.ContainsRune(pair, 0) {
			return nil, badUsage("launch", "--env %q is not KEY=VALUE", pair)
		}
		out = append(out, pair)
	}
	return out, nil
}

// printStarted prints the session that was proven, while the progress of its start goes on.
func (env Env) printStarted(s discover.Session, asJSON bool) error {
	defer env.report.pause()()
	if asJSON {
		return render.JSON(env.Stdout, render.Of(s))
	}
	_, err := fmt.Fprintln(env.Stdout, render.Clean(s.ID))
	return err
}
