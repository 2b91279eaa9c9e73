package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/launch"
	"agentctl/proc"
	"agentctl/proc/multiplexer"
)

func attachCommand(env Env) *cli.Command {
	o := &CommonFlags{}
	return &cli.Command{
		Usage: "go to the terminal of a live session",
		Description: "attach selects the pane of tmux, screen, zellij, WezTerm or kitty in which the session runs. From outside of that tmux,\n" +
			"screen or zellij, it replaces itself by that program's client. A session that a background service of its agent runs\n" +
			"is shown by the agent's client. Where neither is possible, attach fails with exit code 7 and says where the session is.\n" +
			"On another host, it replaces itself by ssh, which runs attach there.",
		ArgsUsage: "ID",
		Flags: []cli.Flag{
			AdapterFlag(&o.AdapterNames),
		},
		CustomHelpTemplate: HelpTemplate("agentctl attach 88d1d394", "agentctl attach pid:4711", "agentctl attach devbox:88d1d394"),
		Action:             WithArgument("the ID of a session", func(ctx context.Context, arg string) error { return runAttach(ctx, env, arg, o) }),
	}
}

func runAttach(ctx context.Context, env Env, arg string, o *CommonFlags) error {
	c, calls, err := env.NewHostCall("attach", o, nil, []string{arg})
	if err != nil {
		return err
	}
	var refused error
	if !c.Terminal {
		refused = UnableError(noTerminal, "")
	}
	return c.OnTerminal(calls, arg, refused, func(arg string) error {
		session, r, err := c.FindOne(ctx, arg, discover.ReadOptions{})
		if err != nil {
			return err
		}
		working, stop := Interruptible(ctx)
		defer stop()
		t := target{Call: c, session: session, guide: c.Guide(c.Scanner)}
		if err := t.find(working); err != nil {
			return err
		}
		return t.attach(working, r.Table)
	})
}

const noTerminal = "attach needs a terminal: stdin and stdout are not both terminals"

// target is the session to attach to.
type target struct {
	*Call
	session discover.Session
	// reachable is the session with those of its processes that may be sent something.
	reachable discover.Session
	guide     launch.Guide
	// pane is where its process runs; nil if that is not known. paneErr is why its multiplexer could not be asked.
	pane    *multiplexer.Pane
	paneErr error
}

// find checks that the session is live, and finds its pane.
func (t *target) find(ctx context.Context) error {
	s := t.session
	switch {
	case s.Status == discover.Stopped:
		return ConflictError(DescribeSession(s)+" is stopped", "agentctl resume "+render.Sanitize(s.ID)+" continues it")
	case len(s.Processes) == 0:
		return UnableError("which process runs "+DescribeSession(s)+" is not known", "")
	}
	var err error
	if t.reachable, err = launch.Reachable(t.Scanner, s, "attach"); err != nil {
		return answerError(s, err)
	}
	if t.pane = t.reachable.Pane(); t.pane == nil {
		return nil
	}
	pane, err := t.guide.Locate(ctx, *t.pane)
	if errors.Is(err, launch.ErrNoPane) {
		t.pane = nil
	} else if err == nil {
		t.pane = &pane
	}
	t.paneErr = err
	return ctx.Err()
}

// attach brings the user to the session: it runs the command that selects the pane, or replaces this process by a client.
func (t *target) attach(ctx context.Context, table *proc.Table) error {
	if !t.Terminal {
		return t.unable(noTerminal)
	}
	environment := launch.NewEnvironment(t.Environ, t.Adapters)
	command, ok, err := launch.AdapterOf(t.Adapters, t.session.Agent).AttachCommand(ctx, t.reachable, environment) // of a background service
	if err == nil && ok {
		err = command.Supported(ctx, t.session.Agent, environment)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return t.explain(err)
	case ok:
		return t.Exec(launch.Spec{Args: command.Args, Env: command.Env, Dir: clientDir(command.Dir)}, environment)
	case t.paneErr != nil:
		return t.explain(t.paneErr)
	case t.pane == nil:
		return t.unable("it is not in a pane of a known multiplexer")
	}
	var from *multiplexer.Pane
	if self, ok := table.ByPID(t.PID); ok {
		from = multiplexer.Find(table, self)
	}
	way, err := t.guide.Way(from, *t.pane)
	if err != nil {
		return t.explain(err)
	}
	host := launch.Environment{Environ: t.Environ}.Without(way.Unset)
	if len(way.Select) > 0 {
		_, err := host.Output(ctx, "", way.Set, way.Select...)
		if err != nil {
			err = cmp.Or(ctx.Err(), err)
		}
		return err
	}
	return t.Exec(launch.Spec{Args: way.Attach, Env: way.Set, Dir: clientDir("")}, host)
}

// clientDir returns a directory to start a client in: the given one if it exists, else that of this process.
func clientDir(dir string) string {
	if dir != "" && CheckDirectory(dir) == nil {
		return dir
	}
	if here, err := os.Getwd(); err == nil {
		return here
	}
	return "/"
}

// explain makes an error of a reason why the session cannot be shown.
func (t *target) explain(err error) error {
	if _, missing := errors.AsType[*launch.NotInstalledError](err); missing {
		return err
	}
	why := err.Error()
	if _, unsupported := errors.AsType[*launch.UnsupportedError](err); !unsupported && t.pane != nil {
		why = string(t.pane.Kind) + ": " + why
	}
	return t.unable(why)
}

// unable is the error that says why attach cannot bring the user there, and where the session is.
func (t *target) unable(why string) error {
	where, hint := render.TerminalText(t.session.TTY(), object.NewTerminal(t.pane)), ""
	if where != "" {
		where = "on " + where
	} else if where = "without a terminal"; t.session.ID != "" {
		hint = "agentctl logs -f " + render.Sanitize(t.session.ID) + " follows it"
	}
	return UnableError(fmt.Sprintf("%s runs %s; %s", DescribeSession(t.session), where, render.Sanitize(why)), hint)
}
