// Package claudecode reads Claude Code: which processes run which of its sessions, and what its transcripts say.
//
// The facts it relies on, with the versions they were seen in, are in docs/agents/claude-code.md. A session is a
// transcript projects/<slug>/<id>.jsonl below the config folder (~/.claude); since 2.1.75 each running process
// describes itself in sessions/<pid>.json, which is believed only of a process that is Claude Code and was born
// when the file says.
package claudecode

import "agentctl/discover"

// Adapter is Claude Code's [discover.Adapter] and [discover.Marker]. It holds no state.
type Adapter struct{}

// New returns the adapter.
func New() Adapter { return Adapter{} }

// Name returns "claude-code".
func (Adapter) Name() discover.Agent { return discover.ClaudeCode }

// Mints reports whether an id is a random UUID (version 4), as Claude Code makes them (SEEN 2.0–2.1.329). With
// --session-id a session may be given any UUID.
func (Adapter) Mints(id string) bool { return isUUID(id) && id[versionAt] == '4' }

// The environment by which Claude Code marks the commands, hooks and MCP servers it starts (the id since 2.1.119).
const (
	markKey    = "CLAUDECODE"
	sessionKey = "CLAUDE_CODE_SESSION_ID"
)

// Mark returns the session that a process started by Claude Code belongs to. The id alone is not enough: a person
// may have exported it.
func (Adapter) Mark(getenv func(string) string) (session string, ok bool) {
	id := getenv(sessionKey)
	if getenv(markKey) != "1" || !isUUID(id) {
		return "", false
	}
	return id, true
}

// MarkKeys returns the environment keys that Mark asks for.
func (Adapter) MarkKeys() []string { return []string{markKey, sessionKey} }

// warning is the one shape in which this package reports what it could not read.
func warning(path string, err error) error {
	return &discover.Warning{Agent: discover.ClaudeCode, Path: path, Err: err}
}
