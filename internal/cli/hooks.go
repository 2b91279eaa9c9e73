package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/discover/ancestry"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/launch"
	"agentctl/lock/githooks"
)

func hooksCommand(env Env) *cli.Command {
	return &cli.Command{
		Usage:              "install git hooks that guard a worktree and name the session in commits",
		UsageText:          "agentctl hooks install|uninstall|status|run [FLAGS] [ARGUMENTS]",
		CustomHelpTemplate: GroupHelpTemplate("agentctl hooks install", "agentctl hooks status"),
		Subcommands: []*cli.Command{
			hooksChangeCommand(env, "install", "install agentctl in the git hooks of a repository", func(ctx context.Context, p *githooks.HooksDir, o *hookOptions) ([]githooks.Hook, error) {
				path, err := programPath(env)
				if err != nil {
					return nil, err
				}
				return p.Install(ctx, githooks.InstallOptions{Program: path, Merges: o.merges})
			}, "agentctl hooks install", "agentctl hooks install --repo ~/src/api --trailer-merges"),
			hooksChangeCommand(env, "uninstall", "remove agentctl from the git hooks, and restore them", func(ctx context.Context, p *githooks.HooksDir, _ *hookOptions) ([]githooks.Hook, error) {
				return p.Uninstall(ctx)
			}, "agentctl hooks uninstall", "agentctl hooks uninstall --repo ~/src/api"),
			hooksChangeCommand(env, "status", "show which hooks call agentctl", func(_ context.Context, p *githooks.HooksDir, _ *hookOptions) ([]githooks.Hook, error) {
				return p.Status()
			}, "agentctl hooks status", "agentctl hooks status --json"),
			hooksRunCommand(env),
		},
	}
}

// hooksChange changes the hooks or, for a status, only reads them. It returns their state.
type hooksChange func(context.Context, *githooks.HooksDir, *hookOptions) ([]githooks.Hook, error)

type hookOptions struct {
	CommonFlags
	repo   string
	merges bool
}

func hooksChangeCommand(env Env, name, usage string, do hooksChange, examples ...string) *cli.Command {
	o := &hookOptions{}
	flags := []cli.Flag{
		&cli.StringFlag{Name: "repo", Usage: "the repository that contains `DIR` (default: the current one)", Destination: &o.repo},
		JSONFlag(&o.JSON), NoColorFlag(&o.NoColor),
	}
	if name == "install" {
		flags = slices.Insert(flags, 1, cli.Flag(mergesFlag(&o.merges)))
	}
	return &cli.Command{
		Name:               name,
		Usage:              usage,
		Flags:              flags,
		CustomHelpTemplate: HelpTemplate(examples...),
		Action: func(c *cli.Context) error {
			return runHooksChange(c.Context, env, "hooks "+name, o, do)
		},
	}
}

func mergesFlag(to *bool) *cli.BoolFlag {
	return &cli.BoolFlag{Name: "trailer-merges", Usage: "also name the session in the messages of merges and squashes", Destination: to}
}

func runHooksChange(ctx context.Context, env Env, verb string, o *hookOptions, do hooksChange) error {
	c, err := env.NewCall(verb, &o.CommonFlags, nil)
	if err != nil {
		return err
	}
	repo, err := env.OpenRepository(ctx, verb, cmp.Or(o.repo, "."))
	if err != nil {
		return err
	}
	place, err := githooks.Open(ctx, repo)
	if err != nil {
		return err
	}
	list, err := do(ctx, place, o)
	if refused, ok := errors.AsType[*githooks.RefusedError](err); ok {
		return ConflictError(refused.Error()+"; nothing was changed", refused.Advice())
	}
	if err != nil {
		return err
	}
	return PrintRows(c, convert(list, func(h githooks.Hook) object.GitHook {
		return object.GitHook{
			Hook: h.Name, State: string(h.State), Path: h.Path, Program: h.Program, TrailerMerges: h.Merges,
			Original: h.Original, Manager: h.Manager, Reason: h.Reason, Advice: h.Advice, Changed: h.Changed,
		}
	}), render.GitHookTable)
}

// programPath is the path of this program for the hooks: its name in PATH if that leads to it, since an update replaces
// the target; otherwise the program itself.
func programPath(env Env) (string, error) {
	self, err := env.Executable()
	if err != nil {
		return "", err
	}
	if named, err := (launch.Environment{Environ: env.Environ}).LookPath(Program); err == nil && discover.SameFile(named, self) {
		return named, nil
	}
	return self, nil
}

func hooksRunCommand(env Env) *cli.Command {
	var merges bool
	return &cli.Command{
		Name:      "run",
		Usage:     "do the work of a git hook; installed hooks call it",
		UsageText: "agentctl hooks run [FLAGS] HOOK [-- ARGUMENTS…]",
		Description: "HOOK is pre-commit, pre-push or pre-rebase: exit 5 or 6 means that git should stop; post-checkout: only warns;\n" +
			"or prepare-commit-msg, with git's own arguments: names the session in the message. Any other failure is a\n" +
			"warning, with exit 0.",
		ArgsUsage:          "HOOK [ARGUMENTS…]",
		Flags:              []cli.Flag{mergesFlag(&merges)},
		CustomHelpTemplate: HelpTemplate("agentctl hooks run pre-commit", `agentctl hooks run prepare-commit-msg -- .git/COMMIT_EDITMSG message`),
		Action: func(c *cli.Context) error {
			args := c.Args().Slice()
			if len(args) == 0 {
				return UsageError("hooks run", "hooks run needs a hook: %s", strings.Join(githooks.Names(), ", "))
			}
			if !slices.Contains(githooks.Names(), args[0]) {
				return UnknownWord("hook", args[0], githooks.Names())
			}
			env.ConfigFailed = func(err error) { env.Warn(err.Error() + "; the defaults hold") }
			if operation, ok := strings.CutPrefix(args[0], "pre-"); ok {
				return guardHook(c.Context, env, "git "+operation+" --no-verify")
			}
			if args[0] == "post-checkout" {
				return afterCheckout(c.Context, env, args[1:])
			}
			return addTrailerInTime(c.Context, env, args[1:], merges)
		},
	}
}

// guardHook stops git if there is a conflict, or if that is not known. over is the git command that skips the hook.
func guardHook(ctx context.Context, env Env, over string) error {
	err := env.Guard(ctx, ".", &GuardOptions{}, over)
	switch ExitCode(err) {
	case ExitConflict:
		return err
	case ExitPartial:
		env.Report.Failure("cannot tell whether another session is running here")
		env.Report.Hint("override: " + over)
		return err
	}
	return warnAndContinue(env, err)
}

// warnAndContinue turns an error into a warning: git continues.
func warnAndContinue(env Env, err error) error {
	if err != nil && !errors.Is(err, ErrPartial) {
		env.Warn(err.Error() + "; git continues")
	}
	return nil
}

// afterCheckout warns of conflicts with what git has just done; an exit code would become git's. args are git's own:
// the commit before and after, and 1 for a branch that was checked out. A branch at the same commit (`checkout -b`) has
// changed no file.
func afterCheckout(ctx context.Context, env Env, args []string) error {
	if len(args) == 3 && args[0] == args[1] && args[2] == "1" {
		return nil
	}
	err := env.Guard(ctx, ".", &GuardOptions{Quiet: true}, "")
	if ExitCode(err) == ExitConflict {
		env.Warn(err.Error() + ": its files have just changed under it")
		return nil
	}
	return warnAndContinue(env, err)
}

// TrailerTimeout bounds how long a commit waits for the name of its session: usually a fraction of a second, seconds on
// an overloaded machine, for ever if storage does not answer.
const TrailerTimeout = 20 * time.Second

// addTrailerInTime names the enclosing session in the message of a commit. The commit continues in any case.
func addTrailerInTime(ctx context.Context, env Env, args []string, merges bool) error {
	if len(args) == 0 {
		return UsageError("hooks run", "prepare-commit-msg needs the file with the message")
	}
	ctx, cancel := context.WithTimeout(ctx, TrailerTimeout)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- addTrailer(ctx, env, append(args, ""), merges) }()
	select {
	case err := <-done:
		return warnAndContinue(env, err)
	case <-ctx.Done():
		return warnAndContinue(env, fmt.Errorf("the commit is not named after a session: %w", ctx.Err()))
	}
}

// addTrailer adds the trailer. args are the message's file and source.
func addTrailer(ctx context.Context, env Env, args []string, merges bool) error {
	git, err := launch.Environment{Environ: env.Environ}.LookPath("git")
	if err != nil {
		return err
	}
	m := githooks.Message{File: args[0], Source: args[1], GitPath: git, Environ: env.Environ}
	if takes, err := m.AcceptsTrailer(ctx, merges); !takes {
		return err
	}
	name, err := currentSession(ctx, env)
	if name == "" {
		return err
	}
	return m.AddTrailer(ctx, name)
}

// currentSession returns the enclosing session as AGENT/ID; "" if there is none, or several. The error says why it is
// not known.
func currentSession(ctx context.Context, env Env) (string, error) {
	c, err := env.NewCall("hooks run", &CommonFlags{}, nil)
	if err != nil {
		return "", err
	}
	r, err := ancestry.Current(ctx, c.Scanner, env.PID, env.Getenv)
	_, several := errors.AsType[*discover.AmbiguousError](err)
	switch {
	case several, errors.Is(err, discover.ErrNotFound): // outside of all, the commit is the user's
		return "", nil
	case err != nil:
		return "", fmt.Errorf("the commit is not named after a session: %w", err)
	}
	s := r.Sessions[0]
	if s.ID == "" || strings.ContainsFunc(s.ID, func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) }) {
		return "", nil // there is nothing to name, or it would be no trailer
	}
	return string(s.Agent) + "/" + s.ID, nil
}
