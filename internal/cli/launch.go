package cli

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
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
	common
	permissions, output        string
	timeout, maxTime           time.Duration
	killOnTimeout, force, wait bool
	onCreate, onComplete       string
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
	switch {
	case !o.wait && o.quiet:
		return badUsage(verb, "--quiet needs --wait")
	case !o.wait && o.maxTime > 0:
		return badUsage(verb, "--max-time needs --wait")
	case !o.wait && o.onComplete != "":
		return badUsage(verb, "--on-complete needs --wait")
	}
	return nil
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
	c, err := env.call("launch", &o.common, nil)
	if err != nil {
		return err
	}
	runs, err := env.runs(args, o)
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
	for _, r := range runs {
		if r.agent, err = env.launcher(r.entry.Agent); err != nil {
			return err
		}
		model := r.req.Model
		r.req, r.startOptions, r.call = base, &o.startOptions, c
		r.req.Model = model
	}
	if o.apart(runs) {
		return env.launchApart(ctx, runs, o)
	}
	if runs[0].vars, err = variables(o.vars.Value(), o.group); err != nil {
		return err
	}
	return env.startOne(ctx, runs[0])
}

// launcher is the agent of that name.
func (env Env) launcher(name string) (launch.Adapter, error) {
	chosen, err := env.chosenAgents([]string{name})
	if err != nil {
		return nil, err
	}
	for agent, a := range discover.AdaptersWith[launch.Adapter](env.Adapters) {
		if slices.Contains(chosen, agent) {
			return a, nil
		}
	}
	return nil, &launch.UnsupportedError{Agent: discover.Agent(name), What: "cannot be launched"}
}

// permitted checks --permissions.
func (o *startOptions) permitted(verb string) (launch.Permissions, error) {
	p := launch.Permissions(o.permissions)
	switch p {
	case "":
		return launch.PermissionsOwn, nil
	case launch.PermissionsOwn, launch.PermissionsEdit, launch.PermissionsFull:
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
		out = append(out, discover.GroupEnv+"="+group)
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
