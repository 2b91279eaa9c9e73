package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/lock/githooks"
)

func newHooksRun(env Env) *cli.Command {
	var merges bool
	return &cli.Command{
		Name:      "run",
		Usage:     "do the work of a git hook; installed hooks call it",
		UsageText: "agentctl hooks run [FLAGS] HOOK [-- ARGUMENTS…]",
		Description: "HOOK is pre-commit, pre-push or pre-rebase: exit 5 or 6 if git should stop; post-checkout: only warn; or\n" +
			"prepare-commit-msg, with git's own arguments: name the session in the message. Any other failure is a\n" +
			"warning, with exit 0.",
		ArgsUsage: "HOOK [ARGUMENTS…]",
		Flags:     []cli.Flag{mergesFlag(&merges)},
		Action: func(c *cli.Context) error {
			args := c.Args().Slice()
			if len(args) == 0 {
				return badUsage("hooks run", "hooks run needs a hook: %s", strings.Join(githooks.Names(), ", "))
			}
			if !slices.Contains(githooks.Names(), args[0]) {
				return unknown("hook", args[0], githooks.Names())
			}
			if over := overrides()[args[0]]; over != "" {
				return env.guardHook(c.Context, over)
			}
			if args[0] == "post-checkout" {
				return env.afterCheckout(c.Context, args[1:])
			}
			return env.nameSession(c.Context, args[1:], merges)
		},
	}
}

// overrides are the commands that git does not ask the hooks of.
func overrides() map[string]string {
	return map[string]string{
		"pre-commit": overCommit, "pre-push": "git push --no-verify", "pre-rebase": "git rebase --no-verify",
	}
}

// guardHook lets git go on unless somebody is in the way, or that cannot be told.
func (env Env) guardHook(ctx context.Context, over string) error {
	err := env.guard(ctx, ".", &guardOptions{}, over)
	switch exitOf(err) {
	case exitConflict:
		return err
	case exitPartial:
		env.report.failure("cannot tell whether another session is running here")
		env.report.hint("override: " + over)
		return err
	}
	return env.goOn(err)
}

// goOn says what went wrong, which is not git's business.
func (env Env) goOn(err error) error {
	if err != nil && !errors.Is(err, errPartial) {
		env.warning(err.Error() + "; git continues")
	}
	return nil
}

// afterCheckout says who is in the way of what git has just done: its exit code would be git's. args are git's own: the commit before
// and after, and 1 for a branch that was checked out. A branch at the same commit (`checkout -b`) has changed no file.
func (env Env) afterCheckout(ctx context.Context, args []string) error {
	if len(args) == 3 && args[0] == args[1] && args[2] == "1" {
		return nil
	}
	err := env.guard(ctx, ".", &guardOptions{quiet: true}, "")
	if exitOf(err) == exitConflict {
		env.warning(err.Error() + ": its files have just changed under it")
		return nil
	}
	return env.goOn(err)
}

// trailerTimeout bounds how long a commit waits for the name of its session: a fraction of a second as a rule, seconds on an
// overloaded machine, for ever where storage does not answer.
const trailerTimeout = 20 * time.Second

// nameSession names the session that we run inside of in the message of a commit. Whatever happens, the commit goes on.
func (env Env) nameSession(ctx context.Context, args []string, merges bool) error {
	if len(args) == 0 {
		return badUsage("hooks run", "prepare-commit-msg needs the file with the message")
	}
	ctx, cancel := context.WithTimeout(ctx, trailerTimeout)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- env.addTrailer(ctx, append(args, ""), merges) }()
	select {
	case err := <-done:
		return env.goOn(err)
	case <-ctx.Done():
		return env.goOn(fmt.Errorf("the commit is not named after a session: %w", ctx.Err()))
	}
}

// addTrailer adds the trailer. args are the message's file and source.
func (env Env) addTrailer(ctx context.Context, args []string, merges bool) error {
	git, err := launch.Environment{Environ: env.Environ}.LookPath("git")
	if err != nil {
		return err
	}
	m := githooks.Message{File: args[0], Source: args[1], GitPath: git, Environ: env.Environ}
	if takes, err := m.AcceptsTrailer(ctx, merges); !takes {
		return err
	}
	name, err := env.sessionAround(ctx)
	if name == "" {
		return err
	}
	return m.AddTrailer(ctx, name)
}

// sessionAround is the session that we run inside of, as AGENT/ID; "" if there is none, or one of several. The error says
// why it cannot be known.
func (env Env) sessionAround(ctx context.Context) (string, error) {
	c, err := env.call("hooks run", &common{}, nil)
	if err != nil {
		return "", err
	}
	r, err := c.world.Current(ctx, env.PID, env.Getenv)
	_, several := errors.AsType[*discover.AmbiguousError](err)
	switch {
	case several, errors.Is(err, discover.ErrNotFound): // outside of all, the commit is a person's
		return "", nil
	case err != nil:
		return "", fmt.Errorf("the commit is not named after a session: %w", err)
	case len(r.Sessions) != 1 || r.Sessions[0].ID == "":
		return "", nil
	}
	name := string(r.Sessions[0].Agent) + "/" + r.Sessions[0].ID
	if strings.ContainsFunc(name, func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) }) {
		return "", nil // it would be no trailer
	}
	return name, nil
}
