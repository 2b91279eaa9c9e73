package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/urfave/cli/v2"

	"agentctl/discover/native/fsread"
	"agentctl/internal/remote"
)

func newInstall(f Factory) *cli.Command {
	var yes bool
	return &cli.Command{
		Name:               "install",
		Usage:              "copy this program to ~/.local/bin of a host of the same platform; asks first",
		UsageText:          "agentctl host install [FLAGS] HOST",
		ArgsUsage:          "HOST",
		Flags:              []cli.Flag{&cli.BoolFlag{Name: "yes", Usage: "do not ask", Destination: &yes}},
		CustomHelpTemplate: HelpTemplate("agentctl host install devbox", "agentctl host install --yes ana@ci-3"),
		Action: WithArgument("the name of a host", func(ctx context.Context, name string) error {
			if !yes && !f.Terminal {
				return UsageError("host install", "host install needs --yes when not on a terminal")
			}
			return runInstall(ctx, f, name, yes)
		}),
	}
}

func runInstall(ctx context.Context, f Factory, name string, yes bool) error {
	c, err := f.NewCall("host install", &CommonFlags{}, nil)
	if err != nil {
		return err
	}
	target, err := f.Target(c.Config, name)
	if err != nil {
		return err
	}
	ssh, err := f.SSH(target)
	if err != nil {
		return err
	}
	ctx, end := Interruptible(ctx)
	defer end()
	endProgress := f.Progress("asking " + name)
	platform, err := ssh.Platform(ctx, target.Destination)
	endProgress()
	if err != nil {
		return hostFailed(ctx, f, target, err)
	}
	if here := runtime.GOOS + "/" + runtime.GOARCH; platform.Go() != here {
		return UnableError(
			fmt.Sprintf("%s is %s, and this program is for %s", name, platform, here),
			fmt.Sprintf("copy an agentctl for %s to ~/.local/bin there", platform.Go()),
		)
	}
	if !yes {
		err := f.Confirm(ctx, "copy this program to ~/.local/bin/agentctl of "+name+"?", "nothing was copied", func(io.Writer) error { return nil })
		if err != nil {
			return err
		}
	}
	endProgress = f.Progress("copying to " + name)
	err = copyTo(ctx, f, ssh, target)
	endProgress()
	if err != nil {
		return hostFailed(ctx, f, target, err)
	}
	return verify(ctx, f, target)
}

// copyTo copies this program.
func copyTo(ctx context.Context, f Factory, ssh remote.SSH, t remote.Target) error {
	path, err := f.Executable()
	if err != nil {
		return err
	}
	program, info, err := fsread.OpenFile(ctx, path, fsread.Follow)
	if err != nil {
		return err
	}
	defer program.Close()
	return ssh.Install(ctx, t.Destination, program, info.Size())
}

// verify asks the program there as every command does, and says which one answers.
func verify(ctx context.Context, f Factory, t remote.Target) error {
	const limit = 64 << 10
	answer, _, err := f.AskHost(ctx, t, limit, "version", "--json")
	bad := (*remote.Error)(nil)
	older := errors.As(err, &bad) && bad.Kind == remote.Version
	if err != nil && !older {
		return hostFailed(ctx, f, t, err)
	}
	here := f.Hello()
	if answer.Hello != here {
		f.Warn(fmt.Sprintf("%s: another agentctl comes before ~/.local/bin in its PATH, and answers: version %s", t.Name, cmp.Or(answer.Hello.Version, "unknown")))
		return ErrPartial
	}
	_, err = fmt.Fprintf(f.Stdout, "%s  agentctl %s in ~/.local/bin\n", t.Name, here.Version)
	return err
}

// hostFailed reports a host that cannot be asked.
func hostFailed(ctx context.Context, f Factory, t remote.Target, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	f.WarnOfHost(t, err)
	return ErrPartial
}
