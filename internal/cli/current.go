package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/output"
)

func newCurrent(env Env) *cli.Command {
	o := &common{}
	return &cli.Command{
		Usage:     "show the session that this shell, hook or tool runs in",
		UsageText: "agentctl current [FLAGS]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print its ID only", Destination: &o.quiet},
			jsonFlag(&o.json),
			noColorFlag(&o.noColor),
		},
		Action: func(c *cli.Context) error {
			return env.current(c.Context, o)
		},
	}
}

func (env Env) current(ctx context.Context, o *common) error {
	call, err := env.call("current", o, nil)
	if err != nil {
		return err
	}
	working, done := env.query(ctx, "looking for the session around")
	r, err := call.world.Current(working, env.PID, env.Getenv)
	if working.Err() != nil {
		err = working.Err()
	}
	done()
	if errors.Is(err, discover.ErrNotFound) {
		_ = env.warn(r.Warnings) // they may be why
		return refusal("this is not inside a session")
	}
	if err != nil {
		return err
	}
	if !o.quiet {
		err = call.show(r.Sessions, make([]output.Resources, len(r.Sessions)), false, o.json)
	} else if id := r.Sessions[0].ID; id != "" {
		_, err = fmt.Fprintln(env.Stdout, output.Sanitize(id))
	} else {
		err = refusal(fmt.Sprintf("this is inside %s, but no evidence names the session", r.Sessions[0].Agent))
	}
	if err != nil {
		return err
	}
	return env.warn(r.Warnings)
}
