package codex

import (
	"agentctl/discover"
	"agentctl/proc"
)

// threadKey is set in the environment of every command that a thread's tools run (SEEN 0.104–0.169). A Codex process that has it was
// started from inside that thread; it does not run it.
const threadKey = "CODEX_THREAD_ID"

// rootKey is set with [threadKey], to the thread at the root of the tree of sub-agents (SEEN 0.169).
const rootKey = "CODEX_SESSION_ID"

// ReadMarker implements [discover.MarkerReader]. The variables name the thread whose tool started the process.
func (Adapter) ReadMarker(getenv func(string) string) (marker discover.EnvMarker, ok bool) {
	thread := getenv(threadKey)
	if !isThreadID(thread) {
		return discover.EnvMarker{}, false
	}
	return discover.EnvMarker{Session: thread, Root: getenv(rootKey)}, true
}

// MarkerKeys are the variables that [Adapter.ReadMarker] reads.
func (Adapter) MarkerKeys() []string { return []string{threadKey, rootKey} }

// HasMarker reports whether a tool of the session, or of one of its sub-agents, started p.
func (Adapter) HasMarker(p proc.Process, s discover.Session) bool {
	env, err := p.Env(threadKey, rootKey)
	return err == nil && s.ID != "" && (env[threadKey] == s.ID || env[rootKey] == s.ID)
}

// ScrubbedEnv are the variables that Codex sets for the commands of a thread (SEEN 0.104, 0.169), and that npm's launcher sets for the
// thread's own process. CODEX_HOME and CODEX_SQLITE_HOME are not among them: they are the user's settings.
func (Adapter) ScrubbedEnv() []string {
	return []string{
		threadKey, rootKey, "CODEX_TOOL_CALL_ID", "CODEX_VERSION", "CODEX_CI", "CODEX_PERMISSION_PROFILE", "CODEX_SANDBOX*",
		"CODEX_APPLY_PATCH_PRESERVE_LINE_ENDINGS", "CODEX_MANAGED_*",
	}
}
