package cli

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

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
	return []string{
		EnvVar("AGENTCTL_SESSION_ID", object.Known(s.ID)),
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
