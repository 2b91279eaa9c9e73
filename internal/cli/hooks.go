// Package hooks is the command hooks, which installs the git hooks and does their work.
package cli

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"

	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/launch"
	"agentctl/lock/githooks"
)

func hooksCommand(f Factory) *cli.Command {
	return &cli.Command{
		Usage:              "install git hooks that guard a worktree and name the session in commits",
		UsageText:          "agentctl hooks install|uninstall|status|run [FLAGS] [ARGUMENTS]",
		CustomHelpTemplate: GroupHelpTemplate("agentctl hooks install", "agentctl hooks status"),
		Subcommands: []*cli.Command{
			newChange(f, "install", "install agentctl in the git hooks of a repository", func(ctx context.Context, p *githooks.HooksDir, o *hookOptions) ([]githooks.Hook, error) {
				path, err := programPath(f)
				if err != nil {
					return nil, err
				}
				return p.Install(ctx, githooks.InstallOptions{Program: path, Merges: o.merges})
			}, "agentctl hooks install", "agentctl hooks install --repo ~/src/api --trailer-merges"),
			newChange(f, "uninstall", "remove agentctl from the git hooks, and restore them", func(ctx context.Context, p *githooks.HooksDir, _ *hookOptions) ([]githooks.Hook, error) {
				return p.Uninstall(ctx)
			}, "agentctl hooks uninstall", "agentctl hooks uninstall --repo ~/src/api"),
			newChange(f, "status", "show which hooks call agentctl", func(_ context.Context, p *githooks.HooksDir, _ *hookOptions) ([]githooks.Hook, error) {
				return p.Status()
			}, "agentctl hooks status", "agentctl hooks status --json"),
			newRun(f),
		},
	}
}

// hookChange changes the hooks, or only looks at them.
type hookChange func(context.Context, *githooks.HooksDir, *hookOptions) ([]githooks.Hook, error)

type hookOptions struct {
	CommonFlags
	repo   string
	merges bool
}

func newChange(f Factory, name, usage string, do hookChange, examples ...string) *cli.Command {
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
		UsageText:          "agentctl hooks " + name + " [FLAGS]",
		Flags:              flags,
		CustomHelpTemplate: HelpTemplate(examples...),
		Action: func(c *cli.Context) error {
			return runChange(c.Context, f, "hooks "+name, o, do)
		},
	}
}

func mergesFlag(to *bool) *cli.BoolFlag {
	return &cli.BoolFlag{Name: "trailer-merges", Usage: "also name the session in the messages of merges and squashes", Destination: to}
}

func runChange(ctx context.Context, f Factory, verb string, o *hookOptions, do hookChange) error {
	c, err := f.NewCall(verb, &o.CommonFlags, nil)
	if err != nil {
		return err
	}
	repo, err := f.OpenRepository(ctx, verb, cmp.Or(o.repo, "."))
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
	var out []object.GitHook
	for _, h := range list {
		out = append(out, object.GitHook{
			Hook: h.Name, State: string(h.State), Path: h.Path, Program: h.Program, TrailerMerges: h.Merges,
			Original: h.Original, Manager: h.Manager, Reason: h.Reason, Advice: h.Advice, Changed: h.Changed,
		})
	}
	return PrintRows(c, out, render.GitHookTable)
}

// programPath is the path of this program for the hooks: its name in PATH if that leads to it, since an update replaces
// the target; otherwise the program itself.
func programPath(f Factory) (string, error) {
	self, err := f.Executable()
	if err != nil {
		return "", err
	}
	if self, err = filepath.Abs(self); err != nil {
		return "", err
	}
	named, err := launch.Environment{Environ: f.Environ}.LookPath(Program)
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
