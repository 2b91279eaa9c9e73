package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"agentctl/discover/storage"
	"agentctl/internal/object"
	"agentctl/internal/remote"
	"agentctl/internal/render"
)

func hostCommand(env Env) *cli.Command {
	return &cli.Command{
		Usage:              "show what is on other machines, and copy agentctl there",
		UsageText:          "agentctl host check|install [FLAGS] HOST…",
		CustomHelpTemplate: GroupHelpTemplate("agentctl host check devbox", "agentctl host install devbox"),
		Subcommands:        []*cli.Command{hostCheckCommand(env), hostInstallCommand(env)},
	}
}

func hostCheckCommand(env Env) *cli.Command {
	o := &CommonFlags{}
	return &cli.Command{
		Name:               "check",
		Usage:              "show whether hosts can be asked, and which agents they have",
		Description:        "Without HOST it checks all hosts of the configuration. Exit 6: one of them cannot be asked.",
		ArgsUsage:          "[HOST…]",
		Flags:              []cli.Flag{JSONFlag(&o.JSON), NoColorFlag(&o.NoColor)},
		CustomHelpTemplate: HelpTemplate("agentctl host check devbox", "agentctl host check --json"),
		Action:             func(c *cli.Context) error { return runHostCheck(c.Context, env, c.Args().Slice(), o) },
	}
}

func runHostCheck(ctx context.Context, env Env, names []string, o *CommonFlags) error {
	c, err := env.NewCall("host check", o, nil)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(c.Config.Hosts))
	}
	if len(names) == 0 {
		return UsageError("host check", "which host? the configuration has no [hosts]")
	}
	var targets []remote.Target
	for _, name := range names {
		t, err := env.Target(c.Config, name)
		if err != nil {
			return err
		}
		targets = append(targets, t)
	}
	working, done := c.StartWork(ctx, fmt.Sprintf("checking %d hosts", len(targets)))
	rows := make([]object.HostCheck, len(targets))
	failures := make([]error, len(targets))
	var checks sync.WaitGroup
	for i, t := range targets {
		checks.Go(func() { rows[i], failures[i] = checkHost(working, env, t) })
	}
	checks.Wait()
	err = working.Err()
	done()
	if err != nil {
		return err
	}
	if err := PrintRows(c, rows, render.HostTable); err != nil {
		return err
	}
	for i, failed := range failures {
		if failed != nil {
			env.WarnOfHost(targets[i], failed)
			err = ErrPartial
		}
	}
	return err
}

// maxDoctor bounds the answer of doctor, in bytes.
const maxDoctor = 4 << 20

func checkHost(ctx context.Context, env Env, t remote.Target) (object.HostCheck, error) {
	row := object.HostCheck{Host: t.Name, Destination: t.Destination, Agents: []object.HostAgent{}}
	answer, text, err := env.AskHost(ctx, t, maxDoctor, "doctor", "--json")
	h := answer.Hello
	row.Version, row.Schema, row.OS, row.Arch = h.Version, h.Schema, h.OS, h.Arch
	if err != nil {
		row.Problem = ErrorText(err)
		return row, err
	}
	var found struct {
		Agents []agentFindings `json:"agents"`
	}
	if json.Unmarshal(text, &found) != nil && answer.Code == ExitOK {
		row.Problem = "what its agentctl says of the agents is not understood"
	}
	for _, a := range found.Agents {
		if len(a.Binaries) > 0 {
			row.Agents = append(row.Agents, object.HostAgent{Adapter: strings.TrimSpace(a.Adapter), Version: a.Binaries[0].Version})
		}
	}
	return row, nil
}

func hostInstallCommand(env Env) *cli.Command {
	var yes bool
	return &cli.Command{
		Name:               "install",
		Usage:              "copy this program to ~/.local/bin of a host of the same platform; asks first",
		ArgsUsage:          "HOST",
		Flags:              []cli.Flag{&cli.BoolFlag{Name: "yes", Usage: "do not ask", Destination: &yes}},
		CustomHelpTemplate: HelpTemplate("agentctl host install devbox", "agentctl host install --yes ana@ci-3"),
		Action: WithArgument("the name of a host", func(ctx context.Context, name string) error {
			if !yes && !env.Terminal {
				return UsageError("host install", "host install needs --yes when not on a terminal")
			}
			return runHostInstall(ctx, env, name, yes)
		}),
	}
}

func runHostInstall(ctx context.Context, env Env, name string, yes bool) error {
	c, err := env.NewCall("host install", &CommonFlags{}, nil)
	if err != nil {
		return err
	}
	target, err := env.Target(c.Config, name)
	if err != nil {
		return err
	}
	ssh, err := env.SSH(target)
	if err != nil {
		return err
	}
	ctx, end := Interruptible(ctx)
	defer end()
	endProgress := env.Progress("asking " + name)
	uname, platform, err := ssh.Platform(ctx, target.Destination)
	endProgress()
	if err != nil {
		return hostFailed(ctx, env, target, err)
	}
	if here := runtime.GOOS + "/" + runtime.GOARCH; platform != here {
		return UnableError(
			fmt.Sprintf("%s is %s, and this program is for %s", name, uname, here),
			fmt.Sprintf("copy an agentctl for %s to ~/.local/bin there", platform),
		)
	}
	if !yes {
		err := env.Confirm(ctx, "copy this program to ~/.local/bin/agentctl of "+name+"?", "nothing was copied", func(io.Writer) error { return nil })
		if err != nil {
			return err
		}
	}
	endProgress = env.Progress("copying to " + name)
	err = copyProgram(ctx, env, ssh, target)
	endProgress()
	if err != nil {
		return hostFailed(ctx, env, target, err)
	}
	return verifyInstall(ctx, env, target)
}

func copyProgram(ctx context.Context, env Env, ssh remote.SSH, t remote.Target) error {
	path, err := env.Executable()
	if err != nil {
		return err
	}
	program, info, err := storage.OpenFile(ctx, path, storage.Follow)
	if err != nil {
		return err
	}
	defer program.Close()
	return ssh.Install(ctx, t.Destination, program, info.Size())
}

// verifyInstall asks the program there as every command does, and says which one answers.
func verifyInstall(ctx context.Context, env Env, t remote.Target) error {
	const limit = 64 << 10
	answer, _, err := env.AskHost(ctx, t, limit, "version", "--json")
	bad := (*remote.Error)(nil)
	older := errors.As(err, &bad) && bad.Kind == remote.Version
	if err != nil && !older {
		return hostFailed(ctx, env, t, err)
	}
	here := env.Hello()
	if answer.Hello != here {
		env.Warn(fmt.Sprintf("%s: another agentctl comes before ~/.local/bin in its PATH, and answers: version %s", t.Name, cmp.Or(answer.Hello.Version, "unknown")))
		return ErrPartial
	}
	_, err = fmt.Fprintf(env.Stdout, "%s  agentctl %s in ~/.local/bin\n", t.Name, here.Version)
	return err
}

// hostFailed reports a host that cannot be asked.
func hostFailed(ctx context.Context, env Env, t remote.Target, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	env.WarnOfHost(t, err)
	return ErrPartial
}
