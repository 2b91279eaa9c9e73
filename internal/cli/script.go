package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/terminal"
	"agentctl/proc"
)

// Script is a shell command of the user's that runs on an event of a session.
type Script struct {
	// Flag names it in messages; Command is what sh runs, "" for nothing.
	Flag, Command string
}

// GracePeriod is how long a script and its descendants may take to end after the context has ended, before they are killed.
const GracePeriod = 2 * time.Second

// runJob runs a command of the user's until it or ctx ends; ctx ends it with all its descendants. If this process is in
// the foreground of a terminal, the command is too.
func runJob(ctx context.Context, cmd *exec.Cmd) error {
	return proc.RunJob(ctx, cmd, !terminal.Foreground(), GracePeriod)
}

// Run runs the script in the session's directory and returns when it has ended. Its environment describes the session,
// with the exit code if exit is not nil. What it prints goes to stderr, since stdout takes data only. The error names the
// flag: the script failed, or ctx has ended.
func (h Script) Run(ctx context.Context, env Env, s discover.Session, exit *int) error {
	if h.Command == "" {
		return nil
	}
	vars := append(SessionVars(object.NewSession(s)), EnvVar("PWD", s.Dir))
	if exit != nil {
		vars = append(vars, "AGENTCTL_EXIT_CODE="+strconv.Itoa(*exit))
	}
	return h.Shell(ctx, env, s.Dir, nil, vars)
}

// Shell runs the script in a directory, with additional variables. stdin may be nil.
func (h Script) Shell(ctx context.Context, env Env, dir string, stdin []byte, vars []string) error {
	cmd := exec.Command("/bin/sh", "-c", h.Command)
	cmd.Dir = dir
	cmd.Env = append(append([]string(nil), env.Environ...), vars...)
	if stdin != nil {
		cmd.Stdin = bytes.NewReader(stdin)
	}
	out, ended := env.Report.script(h.Flag)
	defer ended()
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = GracePeriod
	err := runJob(ctx, cmd)
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", h.Flag, ctx.Err())
	}
	if err != nil {
		return fmt.Errorf("the script of %s failed: %w", h.Flag, err)
	}
	return nil
}

// SessionVars describe a session in environment variables; a variable is empty if its value is not known.
func SessionVars(s object.Session) []string {
	id := ""
	if s.ID != nil {
		id = *s.ID
	}
	return []string{
		EnvVar("AGENTCTL_SESSION_ID", id),
		EnvVar("AGENTCTL_ADAPTER", s.Adapter),
		EnvVar("AGENTCTL_CWD", s.CWD),
		EnvVar("AGENTCTL_GROUP", s.Group),
		EnvVar("AGENTCTL_MODEL", s.Model),
		EnvVar("AGENTCTL_BRANCH", s.Branch),
		EnvVar("AGENTCTL_HOST", s.Host),
	}
}

// maxEnvVar bounds a variable's value, in bytes. Linux refuses to start a program with a longer one than 128 KiB
// (MAX_ARG_STRLEN).
const maxEnvVar = 32 << 10

// EnvVar makes an environment variable of a value from a transcript: NUL bytes, which no environment can hold, are
// removed, and a long value is cut.
func EnvVar(key, value string) string {
	value = strings.ReplaceAll(value, "\x00", "")
	return key + "=" + strings.ToValidUTF8(value[:min(len(value), maxEnvVar)], "")
}

// ContextWriter is a writer that gives up when the context ends, since a reader that stops reading would block for ever.
type ContextWriter struct {
	Context context.Context // its life is one call
	Out     io.Writer
}

func (c ContextWriter) Write(text []byte) (int, error) {
	done := make(chan error, 1)
	kept := bytes.Clone(text) // it is written still when we have given up
	go func() {
		_, err := c.Out.Write(kept)
		done <- err
	}()
	select {
	case err := <-done:
		return len(text), err
	case <-c.Context.Done():
		return 0, c.Context.Err()
	}
}

// CancelOnHangup cancels the context, with EPIPE as its cause, once the other end of the pipe w is closed. SIGPIPE does
// not end the process meanwhile, so that the command can end what it has started.
func CancelOnHangup(ctx context.Context, w io.Writer) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	f, ok := w.(*os.File)
	if !ok {
		return ctx, cancel
	}
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE)
	go func() {
		defer signal.Stop(pipes)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if hungUp(f) {
					cancel(syscall.EPIPE)
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, cancel
}

// hungUp reports whether f is a pipe or a socket whose other end is closed.
func hungUp(f *os.File) bool {
	set := []unix.PollFd{{Fd: int32(f.Fd())}}
	n, err := unix.Poll(set, 0)
	return err == nil && n > 0 && set[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
}

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

// The shell's exit codes for a program that is not there, or that is none.
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
