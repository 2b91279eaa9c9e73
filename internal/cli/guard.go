package cli

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"agentctl/lock"
)

func guardCommand(env Env) *cli.Command {
	o := &GuardOptions{}
	return &cli.Command{
		Usage: "exit 5 if another session is running here, or the directory is locked",
		Description: "For git hooks and scripts. guard checks the git worktree that contains DIR (default: the current directory).\n" +
			"It ignores the session that calls it, and the lock of an agentctl lock DIR -- COMMAND that it runs under.",
		ArgsUsage: "[DIR]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "strict", Usage: "an idle session blocks too", Destination: &o.Strict},
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "do not warn of idle sessions", Destination: &o.Quiet},
			JSONFlag(&o.JSON),
		},
		CustomHelpTemplate: HelpTemplate("agentctl guard", "agentctl guard --strict ~/src/api"),
		Action: func(c *cli.Context) error {
			args, err := Arguments(c, 0, 1, "")
			if err != nil {
				return err
			}
			over := ""
			if env.Getenv("GIT_INDEX_FILE") != "" { // git sets it while it runs the hooks of a commit (githooks(5): pre-commit)
				over = "git commit --no-verify"
			}
			return env.Guard(c.Context, append(args, ".")[0], o, over)
		},
	}
}

// GuardOptions are the flags of guard: Strict counts idle sessions, Quiet does not warn of them.
type GuardOptions struct{ Strict, Quiet, JSON bool }

// Guard returns a conflict error if another session runs in the workspace of dir, or the workspace is locked. over is the
// git command that overrides the check; "" outside a git hook.
func (env Env) Guard(ctx context.Context, dir string, o *GuardOptions, over string) error {
	c, err := env.NewCall("guard", &CommonFlags{}, nil)
	if err != nil {
		return err
	}
	workspace, err := lock.WorkspaceOf(dir)
	if err != nil {
		return UsageError("guard", "%v", err)
	}
	activity, err := c.Activity(ctx, "looking for running sessions")
	if err != nil {
		return err
	}
	unread := env.ReportWarnings(activity.Warnings)
	if activity.ProcessesUnknown {
		// Fail closed only when the process table is unknown.
		return unread
	}
	x := env.ConflictsAt(activity, workspace, o.Strict || c.Config.Strict)
	if err := x.AddFlock(activity.Table, env.PID); err != nil {
		return err
	}
	if !o.Quiet {
		env.WarnOfIdle(x)
	}
	if over == "" {
		return LocksErr(x.Locks, "wait for it, or use a worktree of your own")
	}
	return LocksErr(x.Locks, "wait for it, or override: "+over)
}

// Activity reads who works where, as this command sees it; what names the work in the progress line.
func (c *Call) Activity(ctx context.Context, what string) (*lock.Activity, error) {
	working, done := c.StartWork(ctx, what)
	defer done()
	return lock.ReadActivity(working, c.Scanner, c.Getenv, c.Now)
}

// WarnIfBlind warns if the process table, and so the live sessions, cannot be read. It returns [ErrPartial] then.
func (env Env) WarnIfBlind(a *lock.Activity) error {
	if !a.ProcessesUnknown {
		return nil
	}
	return env.ReportWarnings(a.Warnings)
}

// ConflictsAt returns the conflicts at a workspace; with strict an idle session is one.
func (env Env) ConflictsAt(a *lock.Activity, workspace *lock.Workspace, strict bool) *lock.Conflicts {
	x, err := a.FindConflicts(workspace, strict)
	if err != nil {
		env.Warn(err.Error())
	}
	return x
}

// LocksErr returns a conflict error with a hint, nil if there are no locks.
func LocksErr(locks []lock.Lock, hint string) error {
	if len(locks) == 0 {
		return nil
	}
	message := DescribeLock(locks[0])
	if more := len(locks) - 1; more > 0 {
		message += fmt.Sprintf(", and %d more", more)
	}
	if d := locks[0].Declared; d != nil && d.ReadErr != nil {
		hint = "agentctl unlock --force " + locks[0].Dir + " removes the file; " + hint
	} else if d != nil {
		hint = "agentctl unlock removes the lock; " + hint
	}
	return ConflictError(message, hint)
}

// WarnOfIdle warns of the idle sessions at the workspace.
func (env Env) WarnOfIdle(c *lock.Conflicts) {
	for _, s := range c.Idle {
		env.Warn(fmt.Sprintf("%s is open in %s, idle", DescribeSession(s), c.Workspace.Top))
	}
}
