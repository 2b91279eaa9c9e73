package copilot

import (
	"slices"
	"strconv"

	"agentctl/discover"
	"agentctl/proc"
)

// The variables that the agent sets for what it starts: commands have both, MCP servers and what outlives its command the session only
// (SEEN 1.0.82, 1.0.102).
const (
	sessionKey = "COPILOT_AGENT_SESSION_ID"
	pidKey     = "COPILOT_LOADER_PID"
)

// MarkerKeys implements [discover.Adapter].
func (Adapter) MarkerKeys() []string { return []string{sessionKey, pidKey} }

// ReadMarker implements [discover.Adapter]. In what a sub-agent starts, the ID is one that is stored nowhere: the process tells then. MCP
// servers get their marker when they are started, and run on for the sessions that their terminal goes on to.
func (Adapter) ReadMarker(getenv func(string) string) (mark discover.EnvMarker, ok bool) {
	id := getenv(sessionKey)
	if !isUUID(id) {
		return mark, false
	}
	mark.Session, mark.OutlivesSession = id, true
	if pid, err := strconv.Atoi(getenv(pidKey)); err == nil && pid > 0 {
		mark.PID = pid
	}
	return mark, true
}

// HasMarker implements [discover.Adapter]. The process counts only if it started before p.
func (a Adapter) HasMarker(p proc.Process, s discover.Session) bool {
	env, err := p.Env(a.MarkerKeys()...)
	if err != nil {
		return false
	}
	mark, ok := a.ReadMarker(func(key string) string { return env[key] })
	if !ok || mark.Session == s.ID {
		return ok
	}
	return mark.PID > 0 && !s.Shared && slices.ContainsFunc(s.Processes, func(q proc.Process) bool {
		return q.NamespacePID() == mark.PID && !p.Started.Before(q.Started)
	})
}

// ScrubbedEnv implements [launch.Adapter]. It returns what the agent sets for the commands and servers that it starts (SEEN 1.0.12 to
// 1.0.102).
func (Adapter) ScrubbedEnv() []string {
	return []string{
		sessionKey, pidKey, "COPILOT_CLI", "COPILOT_CLI_BINARY_VERSION", "COPILOT_CLI_RESOLVED_DIST_DIR", "COPILOT_RUN_APP",
	}
}
