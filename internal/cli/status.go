package cli

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/output"
)

type statusOptions struct {
	common
	explain, alive bool
}

func newStatus(env Env) *cli.Command {
	o := &statusOptions{}
	return &cli.Command{
		Usage:     "show one session in full",
		UsageText: "agentctl status [FLAGS] ID",
		Description: "ID is a full ID or a unique prefix of one. If several sessions have one ID, ID@DIR selects one by its project\n" +
			"directory or its agent's home. pid:N selects the session or sessions of a process.",
		ArgsUsage: "ID",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "explain", Usage: "also show every piece of evidence considered, and the reason for the verdict", Destination: &o.explain},
			&cli.BoolFlag{Name: "alive", Usage: "print nothing; exit 0 if it is live, 8 if it is stopped, 6 if that is not known", Destination: &o.alive},
			adapterFlag(&o.adapters),
			formatFlag(&o.format, sessionTemplate),
			jsonFlag(&o.json),
			noColorFlag(&o.noColor),
		},
		Action: func(c *cli.Context) error {
			args, err := arguments(c, 1, "the ID of a session")
			if err != nil {
				return err
			}
			if o.alive && o.explain {
				return badUsage("status", "--alive prints nothing, so there is nothing to explain")
			}
			return env.status(c.Context, args[0], o)
		},
	}
}

func (env Env) status(ctx context.Context, arg string, o *statusOptions) error {
	c, err := env.call("status", &o.common, output.Session{})
	if err != nil {
		return err
	}
	want := discover.ReadOptions{Full: !o.alive, Tokens: !o.alive}
	working, done := env.query(ctx, "looking for "+output.Sanitize(arg))
	r, err := c.world.Find(working, arg, c.agents, want)
	var machines []output.Resources
	var unanswered []*discover.Warning
	if err == nil && !o.alive {
		machines, unanswered = env.machines(working, c.world, r)
		unanswered = append(unanswered, env.addOrphans(working, c.world, r, machines)...)
	}
	if working.Err() != nil {
		err = working.Err()
	}
	done()
	if err != nil {
		_ = env.warn(r.Warnings) // the error says how it ends
		return err
	}
	if o.alive {
		return env.alive(r)
	}
	if err := c.show(r.Sessions, machines, o.explain, o.json); err != nil {
		return err
	}
	return env.warn(append(r.Warnings, unanswered...))
}

// alive answers by the exit code. What cannot be told is neither yes nor no.
func (env Env) alive(r discover.Result) error {
	_ = env.warn(r.Warnings) // of what was left out; the answer is the exit code
	answer := errNo
	for _, s := range r.Sessions {
		switch s.Status {
		case discover.Stopped:
		case discover.Unknown:
			answer = errPartial
		default:
			return nil
		}
	}
	return answer
}

// show prints sessions whole: one, or all those of a process.
func (c *call) show(sessions []discover.Session, machines []output.Resources, explain, asJSON bool) error {
	for i, s := range sessions {
		object := output.NewSessionWithResources(s, machines[i])
		if explain {
			object.Explain = output.Explain(s)
		}
		var err error
		switch {
		case c.template != nil:
			err = c.template(c.Stdout, object)
		case asJSON && len(sessions) > 1:
			err = output.JSONLine(c.Stdout, object)
		case asJSON:
			err = output.JSON(c.Stdout, object)
		default:
			if i > 0 {
				fmt.Fprintln(c.Stdout)
			}
			err = output.Details(c.Stdout, s, machines[i], explain, c.look)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
