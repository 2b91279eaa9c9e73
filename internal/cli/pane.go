package cli

import (
	"context"
	"errors"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/proc/multiplexer"
)

// Guide returns what finds panes of terminal multiplexers, and asks only those of our own user.
func (f Factory) Guide(w *discover.Scanner) launch.Guide {
	return launch.Guide{Host: launch.Environment{Environ: f.Environ}, Reachable: w.Reachable}
}

// locate asks a multiplexer where a pane is. It returns false if that could not be asked, and no pane if it has none.
func locate(ctx context.Context, guide launch.Guide, p multiplexer.Pane) (*multiplexer.Pane, bool) {
	now, err := guide.Locate(ctx, p)
	switch {
	case errors.Is(err, launch.ErrNoPane):
		return nil, true
	case err != nil:
		return nil, false
	}
	return &now, true
}
