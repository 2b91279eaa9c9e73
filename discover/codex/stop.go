package codex

import (
	"syscall"

	"agentctl/discover"
	"agentctl/proc"
)

// rootKey is set beside [threadKey], to the thread at the root of the tree of sub-agents (SEEN 0.169).
const rootKey = "CODEX_SESSION_ID"

// Gentle is what ends `codex exec` and a TUI that runs its own threads. SIGINT lets exec note that the turn was
// interrupted, end its tools and release its lock; SIGTERM ends it as it stands (SEEN 0.169).
func (Adapter) Gentle() []syscall.Signal { return []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} }

// Marked reports whether p was started by a tool of the session or of one of its sub-agents.
func (Adapter) Marked(p proc.Process, s discover.Session) bool {
	env, err := p.Env(threadKey, rootKey)
	return err == nil && s.ID != "" && (env[threadKey] == s.ID || env[rootKey] == s.ID)
}
