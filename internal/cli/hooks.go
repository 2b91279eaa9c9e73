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
	"agentctl/internal/terminal"
	"agentctl/proc"
)

// hook is a script of the person's that runs when something has happened to a session.
type hook struct {
	// flag names it in messages; script is what sh runs, "" for nothing.
	flag, script string
}

// mercy is how long a script that is to end may take, with all that it has started, before it is killed.
const mercy = 2 * time.Second

// runJob runs a command of the person's to its end, or until ctx ends, which ends it with all that it has started. Where
// we have the terminal, it may use that.
func runJob(ctx context.Context, cmd *exec.Cmd) error {
	return proc.RunJob(ctx, cmd, !terminal.Foreground(), mercy)
}

// run runs the script in the session's directory, and returns when it has ended. It is told of the session in its
// environment, and of exit, the exit code, if there is one yet. What it prints is about the data, so it goes to
// stderr. The error names the flag: the script failed, or ctx has ended, which ends it.
func (h hook) run(ctx context.Context, env Env, s discover.Session, exit *int) error {
	if h.script == "" {
		return nil
	}
	vars := append(hookVars(s), variable("PWD", s.Dir))
	if exit != nil {
		vars = append(vars, "AGENTCTL_EXIT_CODE="+strconv.Itoa(*exit))
	}
	return h.shell(ctx, env, s.Dir, nil, vars)
}

// shell runs the script in a directory, with more variables and this on its stdin; nil: nothing.
func (h hook) shell(ctx context.Context, env Env, dir string, stdin []byte, vars []string) error {
	cmd := exec.Command("/bin/sh", "-c", h.script)
	cmd.Dir = dir
	cmd.Env = append(append([]string(nil), env.Environ...), vars...)
	if stdin != nil {
		cmd.Stdin = bytes.NewReader(stdin)
	}
	out, ended := env.report.script(h.flag)
	defer ended()
	cmd.Stdout, cmd.Stderr = out, out
	cmd.WaitDelay = mercy
	err := runJob(ctx, cmd)
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", h.flag, ctx.Err())
	}
	if err != nil {
		return fmt.Errorf("the script of %s failed: %w", h.flag, err)
	}
	return nil
}

// hookVars are a session's facts as environment variables; those that are not known are empty.
func hookVars(s discover.Session) []string {
	return []string{
		variable("AGENTCTL_SESSION_ID", s.ID),
		variable("AGENTCTL_ADAPTER", string(s.Agent)),
		variable("AGENTCTL_CWD", s.Dir),
		variable("AGENTCTL_GROUP", s.Group),
		variable("AGENTCTL_MODEL", s.Model),
		variable("AGENTCTL_BRANCH", s.Branch),
	}
}

// variableLimit bounds a variable's value, in bytes. Linux starts no program with one of more than 128 KiB (MAX_ARG_STRLEN).
const variableLimit = 32 << 10

// variable is one of an environment. Its value comes out of a transcript: a NUL, which no environment can hold, is left out,
// and what is too long is cut.
func variable(key, value string) string {
	value = strings.ReplaceAll(value, "\x00", "")
	return key + "=" + strings.ToValidUTF8(value[:min(len(value), variableLimit)], "")
}
