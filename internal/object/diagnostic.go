package object

// Diagnostic is the JSON object of one line on stderr with --json. Exactly one field is set.
type Diagnostic struct {
	Error   *Error   `json:"error,omitempty"`
	Warning *Warning `json:"warning,omitempty"`
	Hint    string   `json:"hint,omitempty"`
}

// Error is the error with which a command ends.
type Error struct {
	// Code is the name of the error; docs/cli.md lists the names with their exit codes.
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	// Candidates are the sessions that an ambiguous ID matches, possibly truncated.
	Candidates []Session `json:"candidates,omitempty"`
}

// Warning is a warning. Adapter and Path name what could not be read; Source is the flag whose script printed the
// message.
type Warning struct {
	Message string `json:"message"`
	Adapter string `json:"adapter,omitempty"`
	Path    string `json:"path,omitempty"`
	Source  string `json:"source,omitempty"`
	// Host is the machine that it is about; absent for this one.
	Host string `json:"host,omitempty"`
}
