package output

// Report is one line of what is printed on stderr with --json. One of its members is set.
type Report struct {
	Error   *Problem `json:"error,omitempty"`
	Warning *Notice  `json:"warning,omitempty"`
	Hint    string   `json:"hint,omitempty"`
}

// Problem is the error that a command ends with.
type Problem struct {
	// Code is the error's name: docs/cli.md lists them beside the exit codes.
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	// Candidates are the sessions that an ambiguous ID matches, or the first of them.
	Candidates []Session `json:"candidates,omitempty"`
}

// Notice is a warning. Adapter and Path say what could not be read; Source is the flag whose script printed the message.
type Notice struct {
	Message string `json:"message"`
	Adapter string `json:"adapter,omitempty"`
	Path    string `json:"path,omitempty"`
	Source  string `json:"source,omitempty"`
}
