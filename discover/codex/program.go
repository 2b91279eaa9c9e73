package codex

// Program implements [discover.Program]: the name the agent is installed under.
func (Adapter) Program() string { return "codex" }
