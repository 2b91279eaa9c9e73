package cli

import (
	"context"

	"agentctl/discover"
	"agentctl/discover/watch"
)

// EachResult calls do with each result of a watcher until do returns false or an error, and closes the watcher.
func EachResult(ctx context.Context, w *watch.Watcher, do func(discover.Result) (more bool, err error)) error {
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
