package attach

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"agentctl/proc/multiplexer"
)

// wezTermPane is an element of `wezterm cli list --format json`. Older versions do not name the terminal.
type wezTermPane struct {
	TabID     int    `json:"tab_id"`
	PaneID    int    `json:"pane_id"`
	Workspace string `json:"workspace"`
	TTY       string `json:"tty_name"`
}

func locateWezTerm(ctx context.Context, g Guide, p multiplexer.Pane) (multiplexer.Pane, error) {
	if p.Address == "" {
		return p, errors.New("the pane does not name the socket")
	}
	if err := verifySocket(ctx, p.Address, p); err != nil {
		return p, err
	}
	out, err := g.ask(ctx, []string{socketVariable(p)}, "wezterm", "cli", "list", "--format", "json")
	if err != nil {
		return p, err
	}
	var list []wezTermPane
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		return p, fmt.Errorf("wezterm cli list: %w", err)
	}
	for _, f := range list {
		id := strconv.Itoa(f.PaneID)
		if f.TTY == p.TTY || f.TTY == "" && id == p.Pane {
			p.Session, p.Window, p.Pane = f.Workspace, strconv.Itoa(f.TabID), id
			return p, nil
		}
	}
	return p, ErrNotThere
}

func socketVariable(p multiplexer.Pane) string { return "WEZTERM_UNIX_SOCKET=" + p.Address }

// wayWezTerm activates the pane in its window, wherever that is on the screen.
func wayWezTerm(g Guide, to multiplexer.Pane, _ bool) (Way, error) {
	line, err := g.program("wezterm", "cli", "activate-pane", "--pane-id", to.Pane)
	return Way{Select: [][]string{line}, Set: []string{socketVariable(to)}}, err
}
