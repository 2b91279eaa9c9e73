package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/launch"
)

type resumeOptions struct {
	promptOptions
	startOptions
	fork  bool
	model string
	vars  cli.StringSlice
}

func newResume(env Env) *cli.Command {
	o := &resumeOptions{}
	return &cli.Command{
		Usage:     "continue a stopped session",
		UsageText: "agentctl resume [FLAGS] ID [MESSAGE]",
		Description: "With a message, resume runs one more turn in the background, in the session's own directory, with its model\n" +
			"and permissions. Without one, in a terminal, it replaces itself with the agent's own terminal interface.",
		ArgsUsage: "ID [MESSAGE]",
		Flags: slices.Concat([]cli.Flag{
			&cli.BoolFlag{Name: "fork", Usage: "leave the session as it is and continue a copy", Destination: &o.fork},
			adapterFlag(&o.adapters),
			&cli.StringFlag{Name: "model", Usage: "use `MODEL`, by the agent's name for it", Destination: &o.model},
			&cli.StringSliceFlag{Name: "env", Usage: "set a variable for the agent: `K=V` (may be repeated)", Destination: &o.vars},
		}, o.promptOptions.flags(), o.startOptions.flags()),
		Action: func(c *cli.Context) error {
			args := c.Args().Slice()
			switch {
			case len(args) == 0:
				return badUsage("resume", "resume needs the ID of a session")
			case len(args) > 2:
				return badUsage("resume", "resume does not take the argument %q; quote the message", args[2])
			case len(args) == 2 && (o.prompt != "" || o.promptFile != ""):
				return badUsage("resume", "give one message, not two")
			case len(args) == 2:
				o.prompt = args[1]
				o.literal = true
			}
			return env.resume(c.Context, args[0], o)
		},
	}
}

func (env Env) resume(ctx context.Context, arg string, o *resumeOptions) error {
	if err := o.check("resume"); err != nil {
		return err
	}
	c, err := env.call("resume", &o.common, nil)
	if err != nil {
		return err
	}
	session, agent, err := c.stored(ctx, arg)
	if err != nil {
		return err
	}
	req := launch.Request{Model: o.model, Resume: &session, Fork: o.fork}
	if req.Permissions, err = o.permitted("resume"); err != nil {
		return err
	}
	if req.Dir, err = directoryOf(session); err != nil {
		return err
	}
	var group string
	if !o.fork {
		group = session.Group
	}
	vars, err := variables(o.vars.Value(), group)
	if err != nil {
		return err
	}
	r := &agentRun{call: c, startOptions: &o.startOptions, agent: agent, req: req, vars: vars}
	if o.silent() {
		return r.interact(ctx)
	}
	if r.req.Prompt, err = o.text(ctx, env, "resume", req.Dir); err != nil {
		return err
	}
	return env.startOne(ctx, r)
}

// stored finds the session to go on with, whole.
func (c *call) stored(ctx context.Context, arg string) (discover.Session, launch.Adapter, error) {
	r, err := c.find(ctx, arg, discover.ReadOptions{Full: true})
	if err != nil {
		return discover.Session{}, nil, err
	}
	if len(r.Sessions) > 1 {
		_ = c.warn(r.Warnings) // the error says how it ends
		return discover.Session{}, nil, &discover.AmbiguousError{Arg: arg, Candidates: r.Sessions, Total: len(r.Sessions)}
	}
	session := r.Sessions[0]
	agent, err := c.launcher(string(session.Agent))
	if err != nil {
		return session, nil, err
	}
	if session.ID == "" {
		return session, agent, conflict(fmt.Sprintf("%s is live, and its session is not known", named(session)), "")
	}
	if session.IsSubagent() {
		return session, agent, &launch.UnsupportedError{Agent: session.Agent, What: "cannot resume a sub-agent's session; resume " + session.Parent}
	}
	return session, agent, nil
}

// directoryOf is the real path of the directory that a session worked in.
func directoryOf(s discover.Session) (string, error) {
	if s.Dir == "" {
		return "", fmt.Errorf("%s does not say which directory the session worked in", s.Path)
	}
	dir, err := filepath.EvalSymlinks(s.Dir)
	if err == nil {
		err = isDirectory(dir)
	}
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("the session's directory is gone: %s", s.Dir)
	}
	return dir, err
}

// interact replaces this process by the agent's terminal interface.
func (r *agentRun) interact(ctx context.Context) error {
	switch {
	case !r.Terminal:
		return badUsage("resume", "not a terminal; give a message")
	case r.json || r.wait || r.output != "":
		return badUsage("resume", "--json, --wait and --output need a message")
	}
	r.req.Interactive = true
	host := launch.NewEnvironment(r.Environ, r.Adapters, r.vars...)
	spec, err := launch.Plan(r.agent, r.req, host)
	if err != nil {
		return err
	}
	held, err := r.occupy(ctx)
	if err != nil {
		return err
	}
	defer held.Release() // the lock ends with this program's image, when the agent's replaces it
	return r.Become(spec, host)
}
