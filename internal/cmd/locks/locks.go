// Package locks is the command locks.
package locks

import (
	"context"

	"github.com/urfave/cli/v2"

	"agentctl/internal/cmdutil"
	"agentctl/internal/output"
)

func New(f cmdutil.Factory) *cli.Command {
	o := &cmdutil.CommonFlags{}
	return &cli.Command{
		Usage:              "list the locks in force: session locks, held locks and declared locks",
		UsageText:          "agentctl locks [FLAGS]",
		Flags:              []cli.Flag{cmdutil.FormatFlag(&o.Format, "{{.type}} {{.directory}}"), cmdutil.JSONFlag(&o.JSON), cmdutil.NoColorFlag(&o.NoColor)},
		CustomHelpTemplate: cmdutil.HelpTemplate("agentctl locks", "agentctl locks --json"),
		Action:             func(c *cli.Context) error { return run(c.Context, f, o) },
	}
}

func run(ctx context.Context, f cmdutil.Factory, o *cmdutil.CommonFlags) error {
	c, err := f.NewCall("locks", o, output.Lock{})
	if err != nil {
		return err
	}
	activity, err := c.Activity(ctx, "looking for running sessions")
	if err != nil {
		return err
	}
	list, bad := activity.List(c.Config.Strict)
	if err := c.PrintLocks(list); err != nil {
		return err
	}
	err = f.ReportWarnings(activity.Warnings)
	if bad != nil {
		f.Warn(bad.Error())
		err = cmdutil.ErrPartial
	}
	return err
}
