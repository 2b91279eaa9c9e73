package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/launch"
)

type resumeOptions struct {
	PromptOptions
	Options
	fork       bool
	model, dir string
	vars       cli.StringSlice
}

func resumeCommand(f Env) *cli.Command {
	o := &resumeOptions{}
	return &cli.Command{
		Usage:     "continue a stopped session",
		UsageText: "agentctl resume [FLAGS] ID [MESSAGE]",
		Description: "With a message, resume runs one more turn in the background, in the session's own directory, with its model\n" +
			"and permissions. Without one, in a terminal, it replaces itself with the agent's own terminal interface.",
		ArgsUsage: "ID [MESSAGE]",
		Flags: slices.Concat([]cli.Flag{
			&cli.BoolFlag{Name: "fork", Usage: "leave the session as it is and continue a copy", Destination: &o.fork},
			&cli.StringFlag{Name: "cwd", Usage: "continue in `DIR`, for a session whose directory was moved or renamed", Destination: &o.dir},
			AdapterFlag(&o.AdapterNames),
			&cli.StringFlag{Name: "model", Usage: "use `MODEL`, by the agent's name for it", Destination: &o.model},
			ListFlag("env", "set a variable for the agent: `K=V`", &o.vars),
		}, o.PromptOptions.Flags(), o.Options.Flags()),
		CustomHelpTemplate: HelpTemplate(`agentctl resume 88d1d394 "now write the tests"`, "agentctl resume 88d1d394", `agentctl resume 88d1d394 --cwd ~/src/renamed "go on here"`),
		Action: func(c *cli.Context) error {
			args := c.Args().Slice()
			switch {
			case len(args) == 0:
				return UsageError("resume", "resume needs the ID of a session")
			case len(args) > 2:
				return UsageError("resume", "resume does not take the argument %q; quote the message", args[2])
			case len(args) == 2 && (o.Prompt != "" || o.PromptFile != ""):
				return UsageError("resume", "give one message, not two")
			case len(args) == 2:
				o.Prompt = args[1]
				o.Literal = true
			}
			return runResume(c.Context, f, args[0], o)
		},
	}
}

func runResume(ctx context.Context, f Env, arg string, o *resumeOptions) error {
	c, err := f.NewCall("resume", &o.CommonFlags, nil)
	if err != nil {
		return err
	}
	s := Starter{Call: c, Options: &o.Options}
	var calls []HostCall
	if o.None() { // the agent's interface takes the terminal
		var call *HostCall
		switch call, arg, err = c.terminalCall(arg); {
		case err == nil && call != nil:
			if err = cmp.Or(o.CheckFlags("resume"), o.checkInteractive(f.Terminal)); err == nil {
				err = c.ReplaceByHost(call)
			}
			return err
		case err != nil:
			return err
		}
	} else if calls, err = c.Calls([]string{arg}, nil, false); err != nil {
		return err
	}
	if calls != nil { // the message goes there by stdin; directories are the host's
		if err := o.CheckFlags("resume"); err != nil {
			return err
		}
		if calls[0], err = o.WithPrompt(ctx, f, "resume", calls[0]); err != nil {
			return err
		}
		return s.StartOne(ctx, calls, "", nil)
	}
	if err := o.Check("resume"); err != nil {
		return err
	}
	session, adapter, err := findStored(ctx, c, arg)
	if err != nil {
		return err
	}
	req := launch.Request{Model: o.model, Resume: &session, Fork: o.fork}
	if req.Permissions, err = o.Permitted("resume"); err != nil {
		return err
	}
	if req.Dir, err = chooseDir(session, o.dir); err != nil {
		return err
	}
	req.Moved = req.Dir != discover.RealPath(session.Dir)
	var group string
	if !o.fork {
		group = session.Group
	}
	if req.Variables, err = Variables(o.vars.Value(), group); err != nil {
		return err
	}
	if o.None() {
		if err := o.checkInteractive(f.Terminal); err != nil {
			return err
		}
		req.Interactive = true
		return interact(ctx, s, adapter, req)
	}
	if req.Prompt, err = o.Text(ctx, f, "resume", req.Dir); err != nil {
		return err
	}
	return s.StartOne(ctx, nil, session.Agent, func(ctx context.Context, proven func(object.Session) error) (*Launched, error) {
		return s.Start(ctx, adapter, req, proven)
	})
}

// findStored finds the session to resume, and reads it in full.
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
func interact(ctx context.Context, s Starter, adapter launch.Adapter, req launch.Request) error {
	plan, err := s.Plan(ctx, adapter, req)
	if err != nil {
		return err
	}
	defer plan.Release() // the lock ends with this program's image, when the agent's replaces it
	return s.Exec(plan.Spec, plan.Environment)
}
