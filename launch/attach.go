package launch

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"agentctl/proc"
	"agentctl/proc/multiplexer"
)

// ErrNoPane: the multiplexer has no pane with the terminal of the process.
var ErrNoPane = errors.New("it has no pane with this terminal any more")

// Guide finds panes of terminal multiplexers and windows of terminal emulators, and the ways to them, by these programs' own commands.
//
// What a process's environment says of its pane is input. Before anything is sent, the multiplexer's process is checked to be our
// own user's, in our namespaces, and still the one that started the pane's first process. tmux, WezTerm and kitty say which terminal
// or process a pane has: the pane is found by that, not by the environment. Commands get only names and numbers of what other processes
// have written, each as a separate argument.
type Guide struct {
	// Host is the environment of the commands.
	Host Environment
	// Reachable reports whether a process may be sent something.
	Reachable func(proc.Process) bool
}

// Way is how the user gets to a pane.
type Way struct {
	// Select is the command that shows the pane where it is; Attach the one that shows it in this terminal, and replaces this process. One of
	// them is nil.
	Select, Attach []string
	// Set are variables for the command, as KEY=VALUE; Unset are variables that it must not have.
	Set, Unset []string
}

// Locate asks the multiplexer where the pane is now, and under which name. Where it cannot tell, the pane is returned as it is. Errors:
// [ErrNoPane], [ErrUnreachable], and those of the multiplexer's command.
func (g Guide) Locate(ctx context.Context, p multiplexer.Pane) (multiplexer.Pane, error) {
	if err := g.check(p); err != nil {
		return p, err
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	switch p.Kind {
	case multiplexer.Tmux:
		return g.locateTmux(ctx, p)
	case multiplexer.WezTerm:
		return g.locateWezTerm(ctx, p)
	case multiplexer.Kitty:
		return g.locateKitty(ctx, p)
	case multiplexer.Screen, multiplexer.Zellij: // they do not tell which terminal a window or pane has (screen 4.9.0)
	}
	return p, nil
}

// Way returns the way from one pane, nil if this process runs in none that is known, to another, as [Guide.Locate] returned it.
func (g Guide) Way(from *multiplexer.Pane, to multiplexer.Pane) (Way, error) {
	if err := g.check(to); err != nil {
		return Way{}, err
	}
	var w Way
	var line []string
	inside := from != nil && from.Server.ID == to.Server.ID
	selects := inside
	switch to.Kind {
	case multiplexer.Tmux:
		// The client that shows the pane of this process is switched, or this terminal becomes one more client. A target with a pane selects
		// the window and the pane too (tmux 3.3a).
		verb := map[bool]string{true: "switch-client", false: "attach-session"}[inside]
		line = []string{"tmux", "-S", to.Address, verb, "-t", fmt.Sprintf("=%s:%s.%s", to.Session, to.Window, to.Pane)}
	case multiplexer.Screen:
		// The window is selected by the number that it began with. Sessions are found by the beginning of their names, hence the dot.
		session := fmt.Sprintf("%d.", to.Server.ID.PID)
		w.Unset = []string{"SCREENDIR"}
		if to.Address != "" {
			w.Set = []string{"SCREENDIR=" + to.Address}
		}
		line = []string{"screen", "-x", session, "-p", to.Window}
		if inside {
			line = []string{"screen", "-S", session, "-X", "select", to.Window}
		}
	case multiplexer.Zellij:
		// The terminal of another session shows what was shown there last. Focusing needs zellij 0.44 (READ zellij-utils 0.44.1, CliAction).
		line = []string{"zellij", "attach", to.Session}
		if inside {
			line = []string{"zellij", "--session=" + to.Session, "action", "focus-pane-id", "terminal_" + to.Pane}
		}
	case multiplexer.WezTerm: // the pane is activated in its window, wherever that is on the screen; likewise for kitty
		line, selects = []string{"wezterm", "cli", "activate-pane", "--pane-id", to.Pane}, true
		w.Set = []string{wezTermSocket + to.Address}
	case multiplexer.Kitty:
		line, selects = []string{"kitty", "@", "--to", to.Address, "focus-window", "--match", "id:" + to.Pane}, true
	}
	line, err := g.command(line)
	if selects {
		w.Select = line
		return w, err
	}
	// In a terminal of their own kind they refuse to run.
	w.Attach, w.Unset = line, append(w.Unset, "TMUX", "TMUX_PANE", "STY", "WINDOW", "ZELLIJ", "ZELLIJ_SESSION_NAME", "ZELLIJ_PANE_ID")
	return w, err
}

// check returns an error unless the pane is still that of the multiplexer, and the multiplexer may be asked.
func (g Guide) check(p multiplexer.Pane) error {
	leader, err := proc.Inspect(p.Leader.ID.PID)
	switch {
	case err != nil || leader.ID != p.Leader.ID || leader.TTYDevice != p.Leader.TTYDevice || leader.Parent != p.Server.ID.PID:
		return ErrNoPane
	case !g.Reachable(p.Server):
		return ErrUnreachable
	}
	return nil
}

// command returns a command line with the path of its program, which is found in PATH.
func (g Guide) command(line []string) ([]string, error) {
	path, err := g.Host.LookPath(line[0])
	if err != nil {
		return nil, fmt.Errorf("there is no program %q in PATH", line[0])
	}
	return append([]string{path}, line[1:]...), nil
}

// ask runs a command that changes nothing, and returns what it prints, after a check that the multiplexer's process itself listens on a
// Unix socket, since the environment of the pane names it. A name that begins with @ is that of an abstract socket.
func (g Guide) ask(ctx context.Context, p multiplexer.Pane, socket string, variables []string, line ...string) (string, error) {
	conn, err := p.Server.Dial(ctx, "unix", socket)
	if err != nil {
		return "", fmt.Errorf("%s: %w", socket, err)
	}
	if err := conn.Close(); err != nil {
		return "", err
	}
	if line, err = g.command(line); err != nil {
		return "", err
	}
	return g.Host.Output(ctx, "", variables, line...)
}

// locateTmux finds the pane by its terminal and its first process: a dead pane (remain-on-exit) keeps the name of a terminal that a
// newer pane has by now. A window may be in several sessions: one that somebody sees comes first.
func (g Guide) locateTmux(ctx context.Context, p multiplexer.Pane) (multiplexer.Pane, error) {
	// A terminal and numbers have no spaces; a session's name, which comes last, may (tmux 3.3a).
	const format, fields = "#{pane_tty} #{pane_pid} #{session_attached} #{window_index} #{pane_id} #{session_name}", 6
	out, err := g.ask(ctx, p, p.Address, nil, "tmux", "-u", "-S", p.Address, "list-panes", "-a", "-F", format)
	if err != nil {
		return p, err
	}
	var found []string
	for line := range strings.Lines(out) {
		f := strings.SplitN(strings.TrimRight(line, "\n"), " ", fields)
		if len(f) == fields && f[0] == p.TTY && f[1] == strconv.Itoa(p.Leader.ID.PID) && (found == nil || found[2] == "0" && f[2] != "0") {
			found = f
		}
	}
	if found == nil {
		return p, ErrNoPane
	}
	p.Window, p.Pane, p.Session = found[3], found[4], found[5]
	return p, nil
}

const wezTermSocket = "WEZTERM_UNIX_SOCKET="

// locateWezTerm finds the pane by its terminal, or by its number: older versions do not name the terminal.
func (g Guide) locateWezTerm(ctx context.Context, p multiplexer.Pane) (multiplexer.Pane, error) {
	if p.Address == "" {
		return p, errors.New("the pane does not name the socket")
	}
	out, err := g.ask(ctx, p, p.Address, []string{wezTermSocket + p.Address}, "wezterm", "cli", "list", "--format", "json")
	if err != nil {
		return p, err
	}
	var list []struct {
		TabID     int    `json:"tab_id"`
		PaneID    int    `json:"pane_id"`
		Workspace string `json:"workspace"`
		TTY       string `json:"tty_name"`
	}
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
	return p, ErrNoPane
}

// locateKitty finds the pane by its number, and checks the process that kitty started in it. kitty answers only where its
// configuration has allow_remote_control and listen_on. The windows of its tabs are what this program calls panes.
func (g Guide) locateKitty(ctx context.Context, p multiplexer.Pane) (multiplexer.Pane, error) {
	if p.Address == "" {
		return p, errors.New("it listens on no socket; set listen_on in kitty.conf")
	}
	out, err := g.ask(ctx, p, strings.TrimPrefix(p.Address, "unix:"), nil, "kitty", "@", "--to", p.Address, "ls")
	if err != nil {
		return p, err
	}
	var windows []struct {
		Tabs []struct {
			ID      int `json:"id"`
			Windows []struct {
				ID  int `json:"id"`
				PID int `json:"pid"`
			} `json:"windows"`
		} `json:"tabs"`
	}
	if err := json.Unmarshal([]byte(out), &windows); err != nil {
		return p, fmt.Errorf("kitty @ ls: %w", err)
	}
	for _, w := range windows {
		for _, tab := range w.Tabs {
			for _, pane := range tab.Windows {
				if strconv.Itoa(pane.ID) == p.Pane && pane.PID == p.Leader.ID.PID {
					p.Window = strconv.Itoa(tab.ID)
					return p, nil
				}
			}
		}
	}
	return p, ErrNoPane
}
