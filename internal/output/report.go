package output

// Diagnostic is one line of what is printed on stderr with --json. One of its members is set.
type Diagnostic struct {
	Error   *Error   `json:"error,omitempty"`
	Warning *Warning `json:"warning,omitempty"`
	Hint    string   `json:"hint,omitempty"`
}

// Error is the error that a command ends with.
type Error struct {
	// Code is the error's name: docs/cli.md lists them beside the exit codes.
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	// Candidates are the sessions that an ambiguous ID matches, or the first of them.
	Candidates []Session `json:"candidates,omitempty"`
}

// Warning is a warning. Adapter and Path say what could not be read; Source is the flag whose script printed the message.
type Warning struct {
	Message string `json:"message"`
	Adapter string `json:"adapter,omitempty"`
	Path    string `json:"path,omitempty"`
	Source  string `json:"source,omitempty"`
}
