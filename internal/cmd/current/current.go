// Package current is the command current.
package current

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/discover/ancestry"
	"agentctl/internal/cmdutil"
	"agentctl/internal/render"
)

func New(f cmdutil.Factory) *cli.Command {
	o := &cmdutil.CommonFlags{}
	return &cli.Command{
		Usage:     "show the session that this shell, hook or tool runs in",
		UsageText: "agentctl current [FLAGS]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print its ID only", Destination: &o.Quiet},
			cmdutil.JSONFlag(&o.JSON),
			cmdutil.NoColorFlag(&o.NoColor),
		},
		CustomHelpTemplate: cmdutil.HelpTemplate("agentctl current", "agentctl current --quiet"),
		Action:             func(c *cli.Context) error { return run(c.Context, f, o) },
	}
}

func run(ctx context.Context, f cmdutil.Factory, o *cmdutil.CommonFlags) error {
	call, err := f.NewCall("current", o, nil)
	if err != nil {
		return err
	}
	working, done := f.StartWork(ctx, "looking for the session around")
	r, err := ancestry.Current(working, call.Scanner, f.PID, f.Getenv)
	if working.Err() != nil {
		err = working.Err()
	}
	done()
	if errors.Is(err, discover.ErrNotFound) {
		_ = f.ReportWarnings(r.Warnings) // they may be why
		return cmdutil.AnswerNo("this is not inside a session")
	}
	if err != nil {
		return err
	}
	if !o.Quiet {
		err = call.Show(cmdutil.SessionObjects(r.Sessions))
	} else if id := r.Sessions[0].ID; id != "" {
		_, err = fmt.Fprintln(f.Stdout, render.Sanitize(id))
	} else {
		err = cmdutil.AnswerNo(fmt.Sprintf("this is inside %s, but no evidence names the session", r.Sessions[0].Agent))
	}
	if err != nil {
		return err
	}
	return f.ReportWarnings(r.Warnings)
}
