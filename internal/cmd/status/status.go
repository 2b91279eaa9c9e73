// Package status is the command status.
package status

import (
	"context"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/cmdutil"
	"agentctl/internal/output"
)

type options struct {
	cmdutil.CommonFlags
	explain, alive bool
}

func New(f cmdutil.Factory) *cli.Command {
	o := &options{}
	return &cli.Command{
		Usage:     "show one session in full",
		UsageText: "agentctl status [FLAGS] ID",
		Description: "ID is a full ID or a unique prefix of one. If several sessions have one ID, ID@DIR selects one by its project\n" +
			"directory or its agent's home. pid:N selects the session or sessions of a process.",
		ArgsUsage: "ID",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "explain", Usage: "also show every piece of evidence considered, and the reason for the status", Destination: &o.explain},
			&cli.BoolFlag{Name: "alive", Usage: "print nothing; exit 0 if it is live, 8 if it is stopped, 6 if that is not known", Destination: &o.alive},
			cmdutil.AdapterFlag(&o.AdapterNames),
			cmdutil.FormatFlag(&o.Format, cmdutil.SessionTemplate),
			cmdutil.JSONFlag(&o.JSON),
			cmdutil.NoColorFlag(&o.NoColor),
		},
		CustomHelpTemplate: cmdutil.HelpTemplate("agentctl status 88d1d394", "agentctl status pid:4711 --explain", "agentctl status 88d1d394 --alive"),
		Action: cmdutil.WithArgument("the ID of a session", func(ctx context.Context, arg string) error {
			if o.alive && o.explain {
				return cmdutil.UsageError("status", "--alive prints nothing, so there is nothing to explain")
			}
			return run(ctx, f, arg, o)
		}),
	}
}

func run(ctx context.Context, f cmdutil.Factory, arg string, o *options) error {
	c, err := f.NewCall("status", &o.CommonFlags, output.Session{})
	if err != nil {
		return err
	}
	if f.OnHosts(arg) {
		return runHosts(ctx, c, arg, o)
	}
	readOptions := discover.ReadOptions{Full: !o.alive, Tokens: !o.alive}
	working, done := f.StartWork(ctx, "looking for "+output.Sanitize(arg))
	r, err := c.Scanner.Find(working, arg, c.Agents, readOptions)
	var machines []output.Resources
	var unanswered []*discover.Warning
	if err == nil && !o.alive {
		machines, unanswered = f.Resources(working, c.Scanner, r)
		unanswered = append(unanswered, addOrphans(working, f, c.Scanner, r, machines)...)
	}
	if working.Err() != nil {
		err = working.Err()
	}
	done()
	if err != nil {
		_ = f.ReportWarnings(r.Warnings) // the error says how it ends
		return err
	}
	if o.alive {
		return alive(f, r)
	}
	if err := c.Show(r.Sessions, machines, o.explain, o.JSON); err != nil {
		return err
	}
	return f.ReportWarnings(append(r.Warnings, unanswered...))
}

// alive answers by the exit code. An unknown status is neither yes nor no.
func alive(f cmdutil.Factory, r discover.Result) error {
	_ = f.ReportWarnings(r.Warnings) // of what was left out; the answer is the exit code
	answer := cmdutil.ErrNo
	for _, s := range r.Sessions {
		switch s.Status {
		case discover.Stopped:
		case discover.Unknown:
			answer = cmdutil.ErrPartial
		default:
			return nil
		}
	}
	return answer
}
