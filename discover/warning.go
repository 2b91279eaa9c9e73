package discover

import (
	"errors"
	"fmt"
)

// Warning is a store, file or process that could not be read. It never stops the rest from being shown.
type Warning struct {
	// Agent is "" where it is about all of them.
	Agent Agent
	// Path is the file, directory or process it is about.
	Path string
	Err  error
}

func (w *Warning) Error() string {
	about := w.Path
	if w.Agent != "" {
		about = string(w.Agent) + ": " + about
	}
	return fmt.Sprintf("%s: %v", about, w.Err)
}

func (w *Warning) Unwrap() error { return w.Err }

// warnings returns the single errors of a joined error, each as a [Warning].
func warnings(agent Agent, err error) []*Warning {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var out []*Warning
		for _, e := range joined.Unwrap() {
			out = append(out, warnings(agent, e)...)
		}
		return out
	}
	if w, ok := errors.AsType[*Warning](err); ok {
		return []*Warning{w}
	}
	return []*Warning{{Agent: agent, Path: "store", Err: err}}
}
