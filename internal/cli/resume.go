package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/launch"
)

type resumeOptions struct {
	PromptOptions
	StartOptions
	manyOptions
	fork       bool
	model, dir string
	vars       cli.StringSlice
}

func resumeCommand(env Env) *cli.Command {
	o := &resumeOptions{}
	return &cli.Command{
		Usage:     "continue a stopped session",
		UsageText: "agentctl resume [FLAGS] ID [MESSAGE]\nagentctl resume [FLAGS] --last [MESSAGE]\nagentctl resume [FLAGS] -p MESSAGE ID…\nagentctl resume [FLAGS] --interrupted [MESSAGE]\nagentctl resume [FLAGS] --tmux ID… | --interrupted",
		Description: "With a message, resume runs one more turn in the background, in the session's own directory, with its model\n" +
			"and permissions. Without one, in a terminal, it replaces itself with the agent's own terminal interface.\n" +
			"--interrupted shows the sessions whose process ended in the middle of a turn, asks, and resumes each so.",
		ArgsUsage: "ID [MESSAGE]",
		Flags: slices.Concat([]cli.Flag{
			&cli.BoolFlag{Name: "fork", Usage: "leave the session as it is and continue a copy", Destination: &o.fork},
			&cli.StringFlag{Name: "cwd", Usage: "continue in `DIR`, for a session whose directory was moved or renamed; with --interrupted and --last: only sessions in the git worktree that contains DIR", Destination: &o.dir},
			AdapterFlag(&o.AdapterNames),
			&cli.StringFlag{Name: "model", Usage: "use `MODEL`, by the agent's name for it", Destination: &o.model},
			ListFlag("env", "set a variable for the agent: `K=V`", &o.vars),
		}, o.manyOptions.flags(), o.PromptOptions.Flags(), o.StartOptions.Flags()),
		CustomHelpTemplate: HelpTemplate(`agentctl resume 88d1d394 "now write the tests"`, `agentctl resume 88d1d394 --cwd ~/src/renamed "go on here"`, "agentctl resume --interrupted --since boot --tmux"),
		Action: func(c *cli.Context) error {
			args := c.Args().Slice()
			if o.last {
				call, _, err := env.NewHostCall("resume", &o.CommonFlags, nil, nil)
				if err != nil {
					return err
				}
				last, err := lastStopped(c.Context, call, o)
				if err != nil {
					return err
				}
				args = append([]string{last}, args...)
			}
			if len(args) == 2 && o.None() && o.tmux == "" && !o.interrupted {
				if err := checkNoSession(c.Context, env, args[1], o); err != nil {
					return err
				}
			}
			switch {
			case o.isMany(args):
				return runResumeMany(c.Context, env, args, o)
			case len(args) == 0:
				return UsageError("resume", "resume needs the ID of a session, --last or --interrupted")
			case o.since != "" || o.yes || c.IsSet("jobs") || o.repo != "" && !o.last:
				return UsageError("resume", "--since, --repo, --jobs and --yes are for --interrupted, or several sessions")
			case len(args) > 2:
				return UsageError("resume", "resume does not take the argument %q; quote the message, or give it with -p", args[2])
			case len(args) == 2:
				o.Prompt = args[1]
				o.Literal = true
			}
			return runResume(c.Context, env, args[0], o)
		},
	}
}

// checkNoSession refuses a message that is the ID of a session: with several IDs, the message must be given with -p.
func checkNoSession(ctx context.Context, env Env, message string, o *resumeOptions) error {
	if !strings.ContainsAny(message, "0123456789") || strings.ContainsAny(message, " \n") {
		return nil
	}
	c, err := env.NewCall("resume", &o.CommonFlags, nil)
	if err != nil {
		return err
	}
	if _, err := c.Scanner.Find(ctx, message, nil, discover.ReadOptions{}); err != nil {
		return nil //nolint:nilerr // it is no session
	}
	return UsageError("resume", "%q is the ID of a session: to resume several, add -p TEXT or --tmux; to send it as a message, use -p", message)
}

func runResume(ctx context.Context, env Env, arg string, o *resumeOptions) error {
	c, calls, err := env.NewHostCall("resume", &o.CommonFlags, nil, []string{arg})
	if err == nil {
		err = o.Check(ctx, c, "resume", calls != nil)
	}
	if err != nil {
		return err
	}
	s := Starter{Call: c, StartOptions: &o.StartOptions}
	if o.None() { // the agent's interface takes the terminal
		return c.OnTerminal(calls, arg, o.checkInteractive(env.Terminal), func(arg string) error { return interact(ctx, s, arg, o) })
	}
	for i := range calls {
		if calls[i], err = o.WithPrompt(ctx, env, "resume", calls[i]); err != nil {
			return err
		}
	}
	return s.StartOne(ctx, calls, func(ctx context.Context, proven func(object.Session) error) (*Launched, error) {
		adapter, req, err := o.prepare(ctx, c, arg)
		if err != nil {
			return nil, err
		}
		defer c.Progress("waiting for the session of " + string(adapter.Name()))()
		return s.Start(ctx, adapter, req, proven)
	})
}

// prepare finds the session of this machine to resume, and returns what the flags ask for it.
func (r *resumeOptions) prepare(ctx context.Context, c *Call, arg string) (launch.Adapter, launch.Request, error) {
	session, adapter, err := findStored(ctx, c, arg)
	if err != nil {
		return nil, launch.Request{}, err
	}
	req, err := r.request(ctx, c, session)
	return adapter, req, err
}

// request returns what the flags ask for a session. --cwd is where it continues, unless it selects.
func (r *resumeOptions) request(ctx context.Context, c *Call, session discover.Session) (req launch.Request, err error) {
	req = launch.Request{Model: r.model, Resume: &session, Fork: r.fork}
	if req.Permissions, err = r.Permitted("resume"); err != nil {
		return req, err
	}
	dir := r.dir
	if r.interrupted || r.last {
		dir = ""
	}
	if req.Dir, err = chooseDir(session, dir); err != nil {
		return req, err
	}
	req.Moved = req.Dir != discover.RealPath(session.Dir)
	var group string
	if !r.fork {
		group = session.Group
	}
	if req.Variables, err = Variables(r.vars.Value(), group); err != nil || r.None() {
		return req, err
	}
	req.Prompt, err = r.Text(ctx, c.Env, "resume", req.Dir)
	return req, err
}

func findStored(ctx context.Context, c *Call, arg string) (discover.Session, launch.Adapter, error) {
	session, _, err := c.FindOne(ctx, arg, discover.ReadOptions{Full: true})
	if err != nil {
		return session, nil, err
	}
	adapter, err := Adapter(c.Env, string(session.Agent))
	if err != nil {
		return session, nil, err
	}
	if session.ID == "" {
		return session, adapter, ConflictError(fmt.Sprintf("%s is live, and its session is not known", DescribeSession(session)), "")
	}
	if session.IsSubagent() {
		return session, adapter, &launch.UnsupportedError{Agent: session.Agent, What: "cannot resume a sub-agent's session; resume " + session.Parent}
	}
	return session, adapter, nil
}

// chooseDir returns the directory to continue in: that of --cwd, or the session's.
func chooseDir(s discover.Session, flag string) (string, error) {
	if flag != "" {
		return WorkDir("resume", flag)
	}
	if s.Dir == "" {
		return "", fmt.Errorf("%s does not say which directory the session worked in; give --cwd DIR", s.Path)
	}
	dir, err := filepath.EvalSymlinks(s.Dir)
	if err == nil {
		err = CheckDirectory(dir)
	}
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("the session's directory is gone: %s (if it was moved, resume --cwd DIR continues in the new place)", s.Dir)
	}
	return dir, err
}

// checkInteractive refuses what the agent's terminal interface cannot have.
func (r *resumeOptions) checkInteractive(terminal bool) error {
	switch {
	case !terminal:
		return UsageError("resume", "not a terminal; give a message")
	case r.JSON || r.Wait || r.Output != "":
		return UsageError("resume", "--json, --wait and --output need a message")
	}
	return nil
}

// interact replaces this process by the agent's terminal interface.
func interact(ctx context.Context, s Starter, arg string, o *resumeOptions) error {
	adapter, req, err := o.prepare(ctx, s.Call, arg)
	if err = cmp.Or(err, o.checkInteractive(s.Terminal)); err != nil {
		return err
	}
	req.Interactive = true
	plan, err := s.Plan(ctx, adapter, req)
	if err != nil {
		return err
	}
	defer plan.Release() // the lock ends with this program's image, when the agent's replaces it
	return s.Exec(plan.Spec, plan.Environment)
}
