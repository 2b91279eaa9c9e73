package cli

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"agentctl/internal/output"
	"agentctl/launch"
	"agentctl/lock/githooks"
)

func newHooks(env Env) *cli.Command {
	return &cli.Command{
		Usage:     "install git hooks that guard a worktree and name the session in commits",
		UsageText: "agentctl hooks install|uninstall|status|run [FLAGS] [ARGUMENTS]",
		Subcommands: []*cli.Command{
			newHooksChange(env, "install", "install agentctl in the git hooks of a repository", func(ctx context.Context, p *githooks.HooksDir, o *hooksOptions) ([]githooks.Hook, error) {
				return env.hooksInstall(ctx, p, o)
			}),
			newHooksChange(env, "uninstall", "remove agentctl from the git hooks, and restore them", func(ctx context.Context, p *githooks.HooksDir, _ *hooksOptions) ([]githooks.Hook, error) {
				return p.Uninstall(ctx)
			}),
			newHooksChange(env, "status", "show which hooks call agentctl", func(_ context.Context, p *githooks.HooksDir, _ *hooksOptions) ([]githooks.Hook, error) {
				return p.Status()
			}),
			newHooksRun(env),
		},
	}
}

type hooksOptions struct {
	common
	repo   string
	merges bool
}

// newHooksChange makes one of the commands that show all hooks when they have done what they do.
func newHooksChange(env Env, name, usage string, do func(context.Context, *githooks.HooksDir, *hooksOptions) ([]githooks.Hook, error)) *cli.Command {
	o := &hooksOptions{}
	flags := []cli.Flag{
		&cli.StringFlag{Name: "repo", Usage: "the repository that contains `DIR` (default: the current one)", Destination: &o.repo},
		jsonFlag(&o.json), noColorFlag(&o.noColor),
	}
	if name == "install" {
		flags = slices.Insert(flags, 1, cli.Flag(mergesFlag(&o.merges)))
	}
	return &cli.Command{
		Name:      name,
		Usage:     usage,
		UsageText: "agentctl hooks " + name + " [FLAGS]",
		Flags:     flags,
		Action: func(c *cli.Context) error {
			return env.hooks(c.Context, "hooks "+name, o, do)
		},
	}
}

func mergesFlag(to *bool) *cli.BoolFlag {
	return &cli.BoolFlag{Name: "trailer-merges", Usage: "also name the session in the messages of merges and squashes", Destination: to}
}

func (env Env) hooks(ctx context.Context, verb string, o *hooksOptions, do func(context.Context, *githooks.HooksDir, *hooksOptions) ([]githooks.Hook, error)) error {
	c, err := env.call(verb, &o.common, nil)
	if err != nil {
		return err
	}
	repo, err := env.repository(ctx, verb, cmp.Or(o.repo, "."))
	if err != nil {
		return err
	}
	place, err := githooks.Open(ctx, repo)
	if err != nil {
		return err
	}
	list, err := do(ctx, place, o)
	if refused, ok := errors.AsType[*githooks.RefusedError](err); ok {
		return conflict(refused.Error()+"; nothing was changed", refused.Advice())
	}
	if err != nil {
		return err
	}
	var out []output.GitHook
	for _, h := range list {
		out = append(out, output.GitHook{
			Hook: h.Name, State: string(h.State), Path: h.Path, Program: h.Program, TrailerMerges: h.Merges,
			Original: h.Original, Manager: h.Manager, Reason: h.Reason, Advice: h.Advice, Changed: h.Changed,
		})
	}
	return printRows(c, out, o.json, output.GitHookTable)
}

func (env Env) hooksInstall(ctx context.Context, place *githooks.HooksDir, o *hooksOptions) ([]githooks.Hook, error) {
	path, err := env.installed()
	if err != nil {
		return nil, err
	}
	return place.Install(ctx, githooks.InstallOptions{Program: path, Merges: o.merges})
}

// installed is where this program is installed: its name along PATH, if that leads to it, since an update replaces what
// it leads to; otherwise the program itself.
func (env Env) installed() (string, error) {
	self, err := env.Executable()
	if err != nil {
		return "", err
	}
	if self, err = filepath.Abs(self); err != nil {
		return "", err
	}
	named, err := launch.Environment{Environ: env.Environ}.LookPath(program)
	if err != nil {
		return self, nil
	}
	one, err := os.Stat(named)
	two, err2 := os.Stat(self)
	if err == nil && err2 == nil && os.SameFile(one, two) {
		return named, nil
	}
	return self, nil
}
