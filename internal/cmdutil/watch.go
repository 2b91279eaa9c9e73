package cmdutil

import (
	"context"

	"agentctl/discover"
	"agentctl/discover/watch"
)

// EventTypes returns the words that --type takes.
func EventTypes() []string {
	return []string{
		string(watch.SessionStarted), string(watch.SessionRunning), string(watch.SessionWaiting),
		string(watch.SessionIdle), string(watch.SessionError), string(watch.SessionStopped),
	}
}

// Each calls do with each result of a watcher until do returns false or an error, and closes the watcher.
func Each(ctx context.Context, w *watch.Watcher, do func(discover.Result) (more bool, err error)) error {
	defer w.Close()
	for {
		r, err := w.Next(ctx)
		if err != nil {
			return err
		}
		if more, err := do(r); err != nil || !more {
			return err
		}
	}
}
