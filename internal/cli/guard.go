package cli

import (
	"context"

	"github.com/urfave/cli/v2"

	"agentctl/lock"
)

type guardOptions struct{ strict, quiet, json bool }

// overCommit overrides the guard of a commit, inside of which git sets commitKey (githooks(5): pre-commit).
const (
	overCommit = "git commit --no-verify"
	commitKey  = "GIT_INDEX_FILE"
)

func newGuard(env Env) *cli.Command {
	o := &guardOptions{}
	return &cli.Command{
		Usage:     "exit 5 if another session is running here, or the directory is locked",
		UsageText: "agentctl guard [FLAGS] [DIR]",
		Description: "For git hooks and scripts. guard checks the git worktree that contains DIR (default: the current directory).\n" +
			"It ignores the session that calls it, and the lock of a lock DIR -- COMMAND that it runs in.",
		ArgsUsage: "[DIR]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "strict", Usage: "an idle session blocks too", Destination: &o.strict},
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "do not warn of idle sessions", Destination: &o.quiet},
			jsonFlag(&o.json),
		},
		Action: func(c *cli.Context) error {
			dir, err := optionalDir(c)
			if err != nil {
				return err
			}
			over := ""
			if env.Getenv(commitKey) != "" {
				over = overCommit
			}
			return env.guard(c.Context, dir, o, over)
		},
	}
}

// optionalDir is the one argument, or here.
func optionalDir(c *cli.Context) (string, error) {
	args := c.Args().Slice()
	switch len(args) {
	case 0:
		return ".", nil
	case 1:
		return args[0], nil
	}
	return "", badUsage(c.Command.Name, "%s does not take the argument %q", c.Command.Name, args[1])
}

// guard looks who is running in the place of dir. over is the command by which a person does not mind, "" if
// git does not ask.
func (env Env) guard(ctx context.Context, dir string, o *guardOptions, over string) error {
	c, err := env.call("guard", &common{}, nil)
	if err != nil {
		return err
	}
	place, err := lock.WorkspaceOf(dir)
	if err != nil {
		return badUsage("guard", "%v", err)
	}
	working, done := env.query(ctx, "looking for running sessions")
	sc, err := c.scene(working)
	done()
	if err != nil {
		return err
	}
	unread := env.warn(sc.Warnings)
	if sc.ProcessesUnknown {
		// Who is at work cannot be told: to let pass what must not would be the worse mistake. What is missing of other stores
		// blocks nobody's work.
		return unread
	}
	x := sc.at(place, o.strict || c.Strict)
	switch held, err := place.IsFlocked(); {
	case err != nil:
		return err
	case held:
		x.addHolders(sc.Table, false)
	}
	x.dropHeldAround(sc.Table, env.PID)
	if !o.quiet {
		sc.warnOfIdle(x)
	}
	if over == "" {
		return x.err("wait for it, or use a worktree of your own")
	}
	return x.err("wait for it, or override: " + over)
}
