package claudecode

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/proc"
)

// StopSignals implements [launch.Adapter]. SIGTERM ends a TUI and print mode. 2.1.197 may end only the running command and
// continue its turn, so SIGINT follows.
func (Adapter) StopSignals() []syscall.Signal {
	return []syscall.Signal{syscall.SIGTERM, syscall.SIGINT}
}

// NeedsInterrupt implements [launch.Adapter]. A background session has to be stopped by its daemon, which restarts it when
// it dies.
func (Adapter) NeedsInterrupt(s discover.Session) bool { return jobOf(s) != "" }

// jobOf returns the background job of a session, "" if it has none. Since the ID becomes an argument, one that looks like a
// flag does not count.
func jobOf(s discover.Session) string {
	job, _ := s.Meta[jobMeta].(string)
	if s.Source != "bg" || strings.HasPrefix(job, "-") {
		return ""
	}
	return job
}

// Interrupt implements [launch.Adapter]. `claude stop` ends a background session for good (SEEN 2.1.329).
func (Adapter) Interrupt(ctx context.Context, s discover.Session, host launch.Environment) (bool, error) {
	job := jobOf(s)
	if job == "" {
		return false, nil
	}
	program, err := host.FindProgram(Adapter{})
	if err != nil {
		return true, err
	}
	_, err = host.Output(ctx, "", homeVariables().Env(s.Home, host.Getenv), program, "stop", job)
	return true, err
}

// AttachCommand implements [launch.Adapter]. `claude attach` shows a background session, which its daemon runs in a terminal without a
// screen (SEEN 2.1.197, 2.1.330). 2.1.112 has no such command and would begin a session with the prompt "attach".
func (Adapter) AttachCommand(_ context.Context, s discover.Session, host launch.Environment) (c launch.Command, ok bool, err error) {
	job := jobOf(s)
	if job == "" {
		return c, false, nil
	}
	program, err := host.FindProgram(Adapter{})
	if err != nil {
		return c, true, err
	}
	return launch.Command{
		Args: []string{program, "attach", job}, Env: homeVariables().Env(s.Home, host.Getenv), Dir: s.Dir,
		Help: []string{program, "attach", "--help"}, HelpHas: "claude attach ",
	}, true, nil
}

// The variables that Claude Code sets for the commands, hooks and MCP servers that it starts (the PID
// since 2.1.329, not in 2.1.197).
const (
	markerKey  = "CLAUDECODE"
	sessionKey = "CLAUDE_CODE_SESSION_ID"
	pidKey     = "CLAUDE_PID"
	sandboxKey = "SANDBOX_RUNTIME"
)

// ReadMarker implements [discover.Adapter]. The session ID or the PID alone is not enough: the user may have exported
// it. MCP servers get their marker when they are started, and run on after a /clear.
func (Adapter) ReadMarker(getenv func(string) string) (mark discover.EnvMarker, ok bool) {
	if getenv(markerKey) != "1" {
		return discover.EnvMarker{}, false
	}
	if id := getenv(sessionKey); isUUID(id) {
		mark.Session, mark.OutlivesSession = id, true
	}
	if pid, err := strconv.Atoi(getenv(pidKey)); err == nil && pid > 0 {
		mark.PID = pid
	}
	return mark, mark.Session != "" || mark.PID > 0
}

// MarkerKeys returns the environment keys that ReadMarker needs.
func (Adapter) MarkerKeys() []string { return []string{markerKey, sessionKey, pidKey} }

// InSandbox implements [discover.Adapter]. On Linux the sandbox of the tool Bash is a PID namespace that ends with
// it (SEEN 2.1.197, 2.1.329; its /proc shows nothing outside but the bubblewrap that made it). Without a session's marker,
// another program uses the same kind of sandbox.
func (a Adapter) InSandbox(getenv func(string) string) bool {
	mark, ok := a.ReadMarker(getenv)
	return ok && mark.Session != "" && getenv(sandboxKey) == "1"
}

// ScrubbedEnv implements [launch.Adapter]. It returns what Claude Code sets for the commands, hooks and servers that it
// starts (SEEN 2.1.75–2.1.329). A TUI that has CLAUDE_CODE_CHILD_SESSION stores nothing and does not register.
func (Adapter) ScrubbedEnv() []string {
	return []string{
		markerKey, sessionKey, pidKey, "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_CHILD_NOTES_DIR", "CLAUDE_CODE_ENTRYPOINT",
		"CLAUDE_CODE_EXECPATH", "CLAUDE_CODE_LAUNCHED_BY_SESSION_IDS", "CLAUDE_CODE_MESSAGING_*",
		"CLAUDE_CODE_SESSION_ATTENDED", "CLAUDE_EFFORT", "CLAUDE_ENV_FILE", "CLAUDE_JOB_DIR", "CLAUDE_PROJECT_DIR", "AI_AGENT",
	}
}

// HasMarker implements [launch.Adapter]. A session ID is enough: whatever process ran the session, p was started for it. A
// PID counts only if p was started after that process.
func (a Adapter) HasMarker(p proc.Process, s discover.Session) bool {
	env, err := p.Env(a.MarkerKeys()...)
	if err != nil {
		return false
	}
	mark, ok := a.ReadMarker(func(key string) string { return env[key] })
	if !ok || mark.Session != "" && mark.Session == s.ID {
		return ok
	}
	return mark.PID > 0 && slices.ContainsFunc(s.Processes, func(q proc.Process) bool {
		return q.NamespacePID() == mark.PID && !p.Started.Before(q.Started)
	})
}
