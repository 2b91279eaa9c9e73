package cmdutil

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/internal/terminal"
	"agentctl/proc"
)

// Script is a script of the person's that runs when something has happened to a session.
type Script struct {
	// Flag names it in messages; script is what sh runs, "" for nothing.
	Flag, Command string
}

// GracePeriod is how long a script that is to end may take, with all that it has started, before it is killed.
const GracePeriod = 2 * time.Second

// runJob runs a command of the person's to its end, or until ctx ends, which ends it with all that it has started. Where
// we have the terminal, it may use that.
func runJob(ctx context.Context, cmd *exec.Cmd) error {
	return proc.RunJob(ctx, cmd, !terminal.Foreground(), GracePeriod)
}

// Run runs the script in the session's directory, and returns when it has ended. It is told of the session in its
// environment, and of exit, the exit code, if there is one yet. What it prints is about the data, so it goes to
// stderr. The error names the flag: the script failed, or ctx has ended, which ends it.
func (h Script) Run(ctx context.Context, f Factory, s discover.Session, exit *int) error {
	if h.Command == "" {
		return nil
	}
	vars := append(SessionVars(s), EnvVar("PWD", s.Dir))
	if exit != nil {
		vars = append(vars, "AGENTCTL_EXIT_CODE="+strconv.Itoa(*exit))
	}
	return h.Shell(ctx, f, s.Dir, nil, vars)
}

// Shell runs the script in a directory, with more variables and this on its stdin; nil: nothing.
func (h Script) Shell(ctx context.Context, f Factory, dir string, stdin []byte, vars []string) error {
	cmd := exec.Command("/bin/sh", "-c", h.Command)
	cmd.Dir = dir
	cmd.Env = append(append([]string(nil), f.Environ...), vars...)
	if stdin != nil {
		cmd.Stdin = bytes.NewReader(stdin)
	}
	out, ended := f.Report.script(h.Flag)
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

// SessionVars are a session's facts as environment variables; those that are not known are empty.
func SessionVars(s discover.Session) []string {
	return []string{
		EnvVar("AGENTCTL_SESSION_ID", s.ID),
		EnvVar("AGENTCTL_ADAPTER", string(s.Agent)),
		EnvVar("AGENTCTL_CWD", s.Dir),
		EnvVar("AGENTCTL_GROUP", s.Group),
		EnvVar("AGENTCTL_MODEL", s.Model),
		EnvVar("AGENTCTL_BRANCH", s.Branch),
	}
}

// maxEnvVar bounds a variable's value, in bytes. Linux starts no program with one of more than 128 KiB (MAX_ARG_STRLEN).
const maxEnvVar = 32 << 10

// EnvVar is one of an environment. Its value comes out of a transcript: a NUL, which no environment can hold, is left out,
// and what is too long is cut.
func EnvVar(key, value string) string {
	value = strings.ReplaceAll(value, "\x00", "")
	return key + "=" + strings.ToValidUTF8(value[:min(len(value), maxEnvVar)], "")
}
