// Package du is the command du.
package du

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/cmdutil"
	"agentctl/internal/output"
)

type options struct {
	cmdutil.CommonFlags
	by, since string
	olderThan time.Duration
	limit     int
	noPager   bool
}

func New(f cmdutil.Factory) *cli.Command {
	o := &options{}
	return &cli.Command{
		Usage:     "show what sessions take on disk",
		UsageText: "agentctl du [FLAGS]",
		Description: "du counts the bytes that files have allocated: transcripts and all that lies beside them, the largest first. ~ marks an\n" +
			"estimate: the rows of a session in a database. A row with a path is what belongs to no session.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "by", Usage: "one row for each `GROUP`: session, project, agent, month", Value: "session", Destination: &o.by},
			&cli.StringFlag{Name: "since", Usage: "only sessions active since `WHEN`: 12h, 30d, 2w, a date, a time, all", Value: "all", Destination: &o.since},
			cmdutil.DurationFlag("older-than", "only sessions that have not been active for `D`", &o.olderThan),
			cmdutil.AdapterFlag(&o.AdapterNames),
			&cli.IntFlag{Name: "n", Usage: "show at most `N` rows, the largest; 0 shows all", Destination: &o.limit},
			&cli.BoolFlag{Name: "no-trunc", Usage: "do not shorten anything", Destination: &o.NoTrunc},
			cmdutil.FormatFlag(&o.Format, "{{.bytes}} {{.key}}"),
			cmdutil.JSONFlag(&o.JSON),
			cmdutil.NoColorFlag(&o.NoColor),
			&cli.BoolFlag{Name: "no-pager", Usage: "do not use a pager", Destination: &o.noPager},
		},
		CustomHelpTemplate: cmdutil.HelpTemplate("agentctl du -n 20", "agentctl du --by project --older-than 30d", "agentctl du --by agent --json"),
		Action:             func(c *cli.Context) error { return run(c.Context, f, o) },
	}
}

func run(ctx context.Context, f cmdutil.Factory, o *options) error {
	c, err := f.NewCall("du", &o.CommonFlags, output.DiskRow{})
	if err != nil {
		return err
	}
	if !slices.Contains(cmdutil.DiskGroups(), o.by) {
		return cmdutil.UnknownWord("group", o.by, cmdutil.DiskGroups())
	}
	if o.limit < 0 {
		return cmdutil.UsageError("du", "-n must be 0 or more")
	}
	filter := discover.DiskFilter{Agents: c.Agents}
	if filter.Since, err = c.SinceTime("du", o.since); err != nil {
		return err
	}
	if o.olderThan > 0 {
		filter.Before = c.Style.Now.Add(-o.olderThan)
	}
	sum := newSums(o.by, c.Style.Now.Location())
	working, done := c.StartWork(ctx, "adding up the agents' stores")
	left, warnings, err := c.Scanner.ReadDisk(working, filter, sum.add)
	done()
	if err != nil {
		return err
	}
	if err := show(ctx, c, sum.report(o.limit), o); err != nil {
		return err
	}
	if left != (discover.DiskLeftOut{}) {
		c.HintLeftOut("du without --since and --older-than", leftOut(left))
	}
	return f.ReportWarnings(warnings)
}

// leftOut describes what --since and --older-than have left out.
func leftOut(left discover.DiskLeftOut) string {
	row := output.DiskRow{Bytes: left.Bytes, Estimated: left.Estimated}
	return fmt.Sprintf("%s of %s other sessions and of what belongs to none", output.SizeText(row), output.Count(int64(left.Sessions)))
}

func show(ctx context.Context, c *cmdutil.Call, u output.DiskUsage, o *options) error {
	switch {
	case o.JSON:
		return output.JSON(c.Stdout, u)
	case c.Template != nil:
		return cmdutil.PrintEach(u.Rows, func(r output.DiskRow) error { return c.Template(c.Stdout, r) })
	case len(u.Rows) == 0:
		return nil
	}
	var b bytes.Buffer
	if err := output.DiskTable(&b, u, c.Style); err != nil {
		return err
	}
	return c.Page(ctx, b.Bytes(), o.noPager)
}
