package copilot

import (
	"agentctl/launch"
)

// Spec implements [launch.Adapter].
func (a Adapter) Spec(launch.Request, launch.Environment) (launch.Spec, error) {
	return launch.Spec{}, &launch.UnsupportedError{Agent: a.Name(), What: "cannot be launched yet"}
}

// ParseOutput implements [launch.Adapter].
func (Adapter) ParseOutput(launch.Output) launch.ParsedOutput { return launch.ParsedOutput{} }

// ScrubbedEnv implements [launch.Adapter].
func (Adapter) ScrubbedEnv() []string { return nil }
