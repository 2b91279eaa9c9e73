package cli

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

// Page prints a text that is for people: into a terminal by way of a pager if it has more lines than that. It returns
// when the pager has ended, however much of the text that has read. What the user types is the pager's, Ctrl-C too;
// other signals end it. With noPager it prints the text itself.
func (env Env) Page(ctx context.Context, text []byte, noPager bool) error {
	pager := env.pager()
	if noPager || env.Width == 0 || pager == "" || bytes.Count(text, []byte("\n")) < env.Height {
		_, err := env.Stdout.Write(text)
		return err
	}
	ctx, stop := signal.NotifyContext(context.WithoutCancel(ctx), syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	cmd := exec.Command("/bin/sh", "-c", pager)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(text), env.Stdout, env.Stderr
	cmd.Env = slices.Concat([]string{"LESS=FRX", "LV=-c"}, env.Environ) // what the user has set is stronger
	cmd.WaitDelay = GracePeriod
	err := runJob(ctx, cmd)
	switch exit := (*exec.ExitError)(nil); {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &exit) && exit.ExitCode() != missing && exit.ExitCode() != unfit:
		return nil
	case err != nil:
		_, err = env.Stdout.Write(text)
	}
	return err
}

// The shell's exit codes for a program that does not exist, or that cannot be executed.
const (
	missing = 127
	unfit   = 126
)

// pager is the command that shows long texts, "" if none is wanted.
func (env Env) pager() string {
	pager := "less"
	for _, v := range env.Environ {
		if p, ok := strings.CutPrefix(v, "PAGER="); ok {
			pager = p
		}
	}
	if pager == "cat" || env.Getenv("TERM") == "dumb" {
		return ""
	}
	return pager
}
