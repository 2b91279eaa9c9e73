package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/discover/ancestry"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/launch/stop"
)

type statusOptions struct {
	CommonFlags
	explain, alive bool
}

func statusCommand(env Env) *cli.Command {
	o := &statusOptions{}
	return &cli.Command{
		Usage: "show one session in full",
		Description: "ID is a full ID or a unique prefix of one. If several sessions have one ID, ID@DIR selects one by its project\n" +
			"directory or its agent's home. pid:N selects the session or sessions of a process.",
		ArgsUsage: "ID",
		Flags: slices.Concat([]cli.Flag{
			&cli.BoolFlag{Name: "explain", Usage: "also show every piece of evidence considered, and the reason for the status", Destination: &o.explain},
			&cli.BoolFlag{Name: "alive", Usage: "print nothing; exit 0 if it is live, 8 if it is stopped, 6 if that is not known", Destination: &o.alive},
			AdapterFlag(&o.AdapterNames),
		}, o.objectFlags()),
		CustomHelpTemplate: HelpTemplate("agentctl status 88d1d394", "agentctl status pid:4711 --explain", "agentctl status 88d1d394 --alive"),
		Action: WithArgument("the ID of a session", func(ctx context.Context, arg string) error {
			if o.alive && o.explain {
				return UsageError("status", "--alive prints nothing, so there is nothing to explain")
			}
			return runStatus(ctx, env, arg, o)
		}),
	}
}

func runStatus(ctx context.Context, env Env, arg string, o *statusOptions) error {
	c, err := env.NewCall("status", &o.CommonFlags, object.Session{})
	if err != nil {
		return err
	}
	calls, err := c.HostCalls([]string{arg}, nil, true)
	if err != nil {
		return err
	}
	sessions, after, err := Collect(ctx, c, calls, func(ctx context.Context) ([]object.Session, []*discover.Warning, error) {
		if !o.alive {
			return readStatus(ctx, c, arg, o.explain)
		}
		r, err := c.Find(ctx, arg, discover.ReadOptions{})
		if err == nil {
			err = alive(env, r)
		}
		return nil, nil, err
	})
	if err != nil {
		return err
	}
	if !o.alive {
		if err := c.Show(sessions); err != nil {
			return err
		}
	}
	return after()
}

// readStatus returns the sessions of this machine that an argument means, with all that is known of them.
func readStatus(ctx context.Context, c *Call, arg string, explain bool) ([]object.Session, []*discover.Warning, error) {
	r, err := c.Find(ctx, arg, discover.ReadOptions{Full: true, Tokens: true})
	if err != nil {
		return nil, nil, err
	}
	working, done := c.StartWork(ctx, "reading the processes of "+render.Sanitize(arg))
	defer done()
	sessions, unanswered := c.SessionsWithResources(working, c.Scanner, r)
	unanswered = append(unanswered, addOrphans(working, c, r, sessions)...)
	for i, s := range r.Sessions {
		if explain {
			sessions[i].Explain = object.Explain(s)
		}
	}
	return sessions, append(r.Warnings, unanswered...), working.Err()
}

// alive answers by the exit code. An unknown status is neither yes nor no.
func alive(env Env, r discover.Result) error {
	_ = env.ReportWarnings(r.Warnings) // of what was left out; the answer is the exit code
	answer := ErrNo
	for _, s := range r.Sessions {
		switch s.Status {
		case discover.Stopped:
		case discover.Unknown:
			answer = ErrPartial
		default:
			return nil
		}
	}
	return answer
}

// addOrphans adds the processes that stopped sessions of r have left behind, by the rule of list --orphans. It reads
// the environments of all processes, so it does so only if a session is stopped. Of the warnings of this scan, which
// reads other sessions too, it returns only those of the process table.
func addOrphans(ctx context.Context, c *Call, r discover.Result, sessions []object.Session) []*discover.Warning {
	// The environments alone are cheap to ask, and as a rule say that there are none.
	known := r.Table != nil && !r.Table.Hidden()
	if !slices.ContainsFunc(r.Sessions, func(s discover.Session) bool {
		return s.Status == discover.Stopped && (!known || ancestry.HasMarkedProcess(c.Scanner, r.Table, s))
	}) {
		return nil
	}
	found, scan, err := stop.FindOrphans(ctx, c.Scanner, nil)
	if err != nil {
		if ctx.Err() != nil {
			return nil // the caller's own error
		}
		return []*discover.Warning{{Path: "processes", Err: fmt.Errorf("orphans are not known: %w", err)}}
	}
	for i, s := range r.Sessions {
		for _, orphan := range found {
			if s.Status == discover.Stopped && orphan.Session.Key() == s.Key() {
				sessions[i].Orphans = append(sessions[i].Orphans, Processes([]ancestry.Node{{Process: orphan.Process}})...)
			}
		}
	}
	return slices.DeleteFunc(scan.Warnings, func(w *discover.Warning) bool { return w.Agent != "" })
}
