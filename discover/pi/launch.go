package pi

import (
	"agentctl/launch"
)

// Spec implements [launch.Adapter].
func (Adapter) Spec(launch.Request, launch.Environment) (launch.Spec, error) {
	return launch.Spec{}, &launch.UnsupportedError{Agent: agentName, What: "cannot be launched"}
}

// ParseOutput implements [launch.Adapter].
func (Adapter) ParseOutput(launch.Output) launch.ParsedOutput { return launch.ParsedOutput{} }
