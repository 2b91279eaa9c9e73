package discover

// Agents of these tests.
const (
	ClaudeCode Agent = "claude-code"
	Codex      Agent = "codex"
	OpenCode   Agent = "opencode"
)
