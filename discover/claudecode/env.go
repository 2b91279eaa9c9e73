package claudecode

import (
	"slices"
	"strconv"

	"agentctl/discover"
	"agentctl/proc"
)

// The environment by which Claude Code marks the commands, hooks and MCP servers it starts (the id since 2.1.119; its own
// pid since 2.1.329, not in 2.1.197).
const (
	markerKey  = "CLAUDECODE"
	sessionKey = "CLAUDE_CODE_SESSION_ID"
	pidKey     = "CLAUDE_PID"
	sandboxKey = "SANDBOX_RUNTIME"
)

// ReadMarker implements [discover.MarkerReader]. The id or the pid alone is not enough: a person may have exported it. MCP servers are
// marked when they are started, and serve on after a /clear.
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

// MarkerKeys returns the environment keys that Mark asks for.
func (Adapter) MarkerKeys() []string { return []string{markerKey, sessionKey, pidKey} }

// InSandbox implements [discover.SandboxDetector]: on Linux the sandbox of the tool Bash is a pid namespace, which ends with it (SEEN
// 2.1.197, 2.1.329, whose /proc shows only the bubblewrap around that). Other programs can be run in the same sandbox: then
// there is no session's mark.
func (a Adapter) InSandbox(getenv func(string) string) bool {
	mark, ok := a.ReadMarker(getenv)
	return ok && mark.Session != "" && getenv(sandboxKey) == "1"
}

// ScrubbedEnv implements [launch.Adapter]: what Claude Code sets for the commands, hooks and servers that it starts (SEEN
// 2.1.75–2.1.329). A TUI that has CLAUDE_CODE_CHILD_SESSION stores nothing and registers nowhere.
func (Adapter) ScrubbedEnv() []string {
	return []string{
		markerKey, sessionKey, pidKey, "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_CHILD_NOTES_DIR", "CLAUDE_CODE_ENTRYPOINT",
		"CLAUDE_CODE_EXECPATH", "CLAUDE_CODE_LAUNCHED_BY_SESSION_IDS", "CLAUDE_CODE_MESSAGING_*",
		"CLAUDE_CODE_SESSION_ATTENDED", "CLAUDE_EFFORT", "CLAUDE_ENV_FILE", "CLAUDE_JOB_DIR", "CLAUDE_PROJECT_DIR", "AI_AGENT",
	}
}

// HasMarker implements [launch.Stopper]. The id alone is believed: whatever process ran the session, it was for it. A pid
// is believed of what was started after that process.
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
		return namespacePID(q) == mark.PID && !p.Started.Before(q.Started)
	})
}
