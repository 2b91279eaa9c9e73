package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/discover/ancestry"
	"agentctl/internal/render"
)

func currentCommand(env Env) *cli.Command {
	o := &CommonFlags{}
	return &cli.Command{
		Usage: "show the session that this shell, hook or tool runs in",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print its ID only", Destination: &o.Quiet},
			JSONFlag(&o.JSON),
			NoColorFlag(&o.NoColor),
		},
		CustomHelpTemplate: HelpTemplate("agentctl current", "agentctl current --quiet"),
		Action:             func(c *cli.Context) error { return runCurrent(c.Context, env, o) },
	}
}

func runCurrent(ctx context.Context, env Env, o *CommonFlags) error {
	call, err := env.NewCall("current", o, nil)
	if err != nil {
		return err
	}
	r, err := call.enclosing(ctx)
	if errors.Is(err, discover.ErrNotFound) {
		_ = env.ReportWarnings(r.Warnings) // they may be why
		return AnswerNo("not running inside an agent session")
	}
	if err != nil {
		return err
	}
	if !o.Quiet {
		err = call.Show(SessionObjects(r.Sessions))
	} else if id := r.Sessions[0].ID; id != "" {
		_, err = fmt.Fprintln(env.Stdout, render.Sanitize(id))
	} else {
		err = AnswerNo(fmt.Sprintf("running inside %s, but no evidence names the session", r.Sessions[0].Agent))
	}
	if err != nil {
		return err
	}
	return env.ReportWarnings(r.Warnings)
}

// enclosing finds the session that this command runs inside of. The error is that of [ancestry.Current], or ctx's.
func (c *Call) enclosing(ctx context.Context) (discover.Result, error) {
	working, done := c.StartWork(ctx, "looking for the enclosing session")
	defer done()
	r, err := ancestry.Current(working, c.Scanner, c.PID, c.Getenv)
	return r, cmp.Or(working.Err(), err)
}
