// Package claudecode reads Claude Code: which processes run which of its sessions, and what its transcripts say.
//
// The facts it relies on, with the versions they were seen in, are in docs/agents/claude-code.md. A session is a
// transcript projects/<slug>/<id>.jsonl below the config folder (~/.claude); since 2.1.75 each running process
// describes itself in sessions/<pid>.json, which is believed only of a process that is Claude Code and was born
// when the file says.
package claudecode

import (
	"strconv"

	"agentctl/discover"
	"agentctl/discover/native"
	"agentctl/proc"
)

// Adapter is Claude Code's [discover.Adapter] and [discover.Marker]. It holds no state.
type Adapter struct{}

// New returns the adapter.
func New() Adapter { return Adapter{} }

const agentName discover.Agent = "claude-code"

// Name is the agent's name in flags and JSON.
func (Adapter) Name() discover.Agent { return agentName }

// ShortName implements [discover.ShortNamed].
func (Adapter) ShortName() string { return "cc" }

// IncludesSubAgents implements [discover.Inclusive].
func (Adapter) IncludesSubAgents(discover.ReadOptions) bool { return true }

// MatchesID reports whether an id is a random UUID (version 4), as Claude Code makes them (SEEN 2.0–2.1.329). With
// --session-id a session may be given any UUID.
func (Adapter) MatchesID(id string) bool { return isUUID(id) && id[versionAt] == '4' }

// ShortID implements [discover.Shortener]. A sub-agent's ID is "agent-", mostly an "a", and random hexadecimal digits.
func (Adapter) ShortID(id string) int {
	if isSubagent(id) {
		return len(agentPrefix) + 1 + discover.MinShortID
	}
	return native.ShortUUIDLen(id)
}

// The environment by which Claude Code marks the commands, hooks and MCP servers it starts (the id since 2.1.119; its own
// pid since 2.1.329, not in 2.1.197).
const (
	markKey    = "CLAUDECODE"
	sessionKey = "CLAUDE_CODE_SESSION_ID"
	pidKey     = "CLAUDE_PID"
	sandboxKey = "SANDBOX_RUNTIME"
)

// ReadMarker implements [discover.Marker]. The id or the pid alone is not enough: a person may have exported it. MCP servers are
// marked when they are started, and serve on after a /clear.
func (Adapter) ReadMarker(getenv func(string) string) (mark discover.EnvMarker, ok bool) {
	if getenv(markKey) != "1" {
		return discover.EnvMarker{}, false
	}
	if id := getenv(sessionKey); isUUID(id) {
		mark.Session, mark.Lasting = id, true
	}
	if pid, err := strconv.Atoi(getenv(pidKey)); err == nil && pid > 0 {
		mark.PID = pid
	}
	return mark, mark.Session != "" || mark.PID > 0
}

// MarkerKeys returns the environment keys that Mark asks for.
func (Adapter) MarkerKeys() []string { return []string{markKey, sessionKey, pidKey} }

// Runs implements [discover.Marker].
func (Adapter) Runs(p proc.Process) bool { return looksLike(p) }

// InSandbox implements [discover.Encloser]: on Linux the sandbox of the tool Bash is a pid namespace, which ends with it (SEEN
// 2.1.197, 2.1.329, whose /proc shows only the bubblewrap around that). Other programs can be run in the same sandbox: then
// there is no session's mark.
func (a Adapter) InSandbox(getenv func(string) string) bool {
	mark, ok := a.ReadMarker(getenv)
	return ok && mark.Session != "" && getenv(sandboxKey) == "1"
}

// warning is the one shape in which this package reports what it could not read.
func warning(path string, err error) error {
	return &discover.Warning{Agent: agentName, Path: path, Err: err}
}
