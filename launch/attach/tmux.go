package attach

import (
	"context"
	"fmt"
	"strings"

	"agentctl/proc/multiplexer"
)

// paneFormat has the fields of a line of `tmux list-panes`. A terminal and numbers have no spaces; a session's name, which comes last,
// may (tmux 3.3a).
const (
	paneFormat = "#{pane_tty} #{session_id} #{window_id} #{window_index} #{pane_id} #{session_attached} #{session_name}"
	paneFields = 7
)

// tmuxPane is a line of `tmux list-panes`.
type tmuxPane struct{ tty, sessionID, windowID, window, pane, attached, session string }

// locateTmux finds the pane by its terminal. A window may be in several sessions: one that somebody sees comes first.
func locateTmux(ctx context.Context, g Guide, p multiplexer.Pane) (multiplexer.Pane, error) {
	found, err := findTmux(ctx, g, p)
	if err != nil {
		return p, err
	}
	p.Session, p.Window, p.Pane = found.session, found.window, found.pane
	return p, nil
}

func findTmux(ctx context.Context, g Guide, p multiplexer.Pane) (tmuxPane, error) {
	if err := verifySocket(ctx, p.Address, p); err != nil {
		return tmuxPane{}, err
	}
	out, err := g.ask(ctx, nil, "tmux", "-u", "-S", p.Address, "list-panes", "-a", "-F", paneFormat)
	if err != nil {
		return tmuxPane{}, err
	}
	var found []tmuxPane
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimRight(line, "\n"), " ", paneFields)
		if len(f) == paneFields && f[0] == p.TTY {
			found = append(found, tmuxPane{f[0], f[1], f[2], f[3], f[4], f[5], f[6]})
		}
	}
	for _, f := range found {
		if f.attached != "0" {
			return f, nil
		}
	}
	if len(found) == 0 {
		return tmuxPane{}, ErrNotThere
	}
	return found[0], nil
}

// wayTmux switches the client that shows the pane of this process, or attaches this terminal as one more client. A target with a
// pane selects the window and the pane too (tmux 3.3a).
func wayTmux(g Guide, to multiplexer.Pane, inside bool) (w Way, err error) {
	target := fmt.Sprintf("=%s:%s.%s", to.Session, to.Window, to.Pane)
	if inside {
		line, err := g.program("tmux", "-S", to.Address, "switch-client", "-t", target)
		return Way{Select: [][]string{line}}, err
	}
	w.Attach, err = g.program("tmux", "-S", to.Address, "attach-session", "-t", target)
	return w, err
}

// verifySocket fails unless the multiplexer's process itself listens on a Unix socket: the environment of the pane names it.
// A name that begins with @ is that of an abstract socket.
func verifySocket(ctx context.Context, name string, p multiplexer.Pane) error {
	conn, err := p.Server.Dial(ctx, "unix", name)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return conn.Close()
}
