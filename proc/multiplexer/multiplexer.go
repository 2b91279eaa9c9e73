// Package multiplexer finds out in which pane of a terminal multiplexer, or in which window of a terminal emulator, a process
// runs: tmux, screen, zellij, WezTerm, kitty.
//
// Each of them starts a shell or program in a pane, as the leader of a session (setsid(2)) with a terminal of its own, and names the
// pane in its environment. Everything that is started from there inherits the variables, also what has another terminal by then:
// another multiplexer's pane, script(1), a login over ssh. So the variables are believed only of the leader of the session that
// has the process's terminal, and only if the leader is a child of the multiplexer that they name. Nothing is sent to anyone.
package multiplexer

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"agentctl/proc"
)

// Kind is a multiplexer or terminal emulator.
type Kind string

// The kinds.
const (
	Tmux    Kind = "tmux"
	Screen  Kind = "screen"
	Zellij  Kind = "zellij"
	WezTerm Kind = "wezterm"
	Kitty   Kind = "kitty"
)

// Pane is where a process runs.
type Pane struct {
	Kind Kind
	// Session, Window and Pane are the multiplexer's own names or numbers; "" where they are not known or do not exist. They are
	// those of the start of the pane: its session may have another name by now, and the pane may be in another window.
	Session, Window, Pane string
	// Address is where the multiplexer accepts commands, in its own notation: the socket of tmux, WezTerm and kitty, the directory of
	// screen's sockets, the name of zellij's session. It is "" where the environment does not name it.
	Address string
	// TTY is the terminal of the pane.
	TTY string
	// Leader is the process that was started in the pane, and Server the multiplexer's process that started it.
	Leader, Server proc.Process
}

// Find returns the pane in which a process of the table runs; nil if it has no terminal, or if its terminal is not known to
// be that of a pane.
func Find(table *proc.Table, p proc.Process) *Pane {
	tty, err := p.TTY()
	if err != nil || tty == "" {
		return nil
	}
	leader, ok := sessionLeader(table, p)
	if !ok {
		return nil
	}
	server, ok := table.Parent(leader)
	if !ok || !server.Alive() {
		return nil
	}
	env, err := leader.Env( // what each program sets when it starts a pane; docs/terminals.md has the sources
		"TMUX", "TMUX_PANE", "STY", "WINDOW", "SCREENDIR", "ZELLIJ_SESSION_NAME", "ZELLIJ_PANE_ID", "WEZTERM_PANE", "WEZTERM_UNIX_SOCKET",
		"KITTY_PID", "KITTY_WINDOW_ID", "KITTY_LISTEN_ON",
	)
	if err != nil {
		return nil
	}
	for _, read := range []func(env map[string]string, server proc.Process) (Pane, bool){tmux, screen, zellij, wezterm, kitty} {
		if pane, ok := read(env, server); ok {
			pane.TTY, pane.Leader, pane.Server = tty, leader, server
			return &pane
		}
	}
	return nil
}

// sessionLeader returns the leader of the process's session. Where the system does not name the session, it is the furthest
// ancestor that has the same terminal.
func sessionLeader(table *proc.Table, p proc.Process) (leader proc.Process, ok bool) {
	if p.Session != 0 {
		leader, ok = table.ByPID(p.Session)
		return leader, ok && leader.Alive() && leader.TTYDevice == p.TTYDevice
	}
	leader = p
	for a := range table.Ancestors(p.ID.PID) {
		if a.TTYDevice != p.TTYDevice {
			break
		}
		leader = a
	}
	return leader, leader.Alive()
}

// tmux reads TMUX (socket path, pid of the server, number of the session) and TMUX_PANE. The session is not kept: panes are
// moved between sessions.
func tmux(env map[string]string, server proc.Process) (Pane, bool) {
	fields := strings.Split(env["TMUX"], ",")
	if len(fields) < 3 {
		return Pane{}, false
	}
	n := len(fields) // a comma may occur in the path
	socket, pid := strings.Join(fields[:n-2], ","), fields[n-2]
	id, ok := strings.CutPrefix(env["TMUX_PANE"], "%")
	if !ok || !isNumber(id) || !isPID(pid, server) || !filepath.IsAbs(socket) {
		return Pane{}, false
	}
	return Pane{Kind: Tmux, Pane: env["TMUX_PANE"], Address: socket}, true
}

// screen reads STY (pid of the server, a dot, the name of the session), WINDOW, and SCREENDIR, which the user sets and the windows inherit.
func screen(env map[string]string, server proc.Process) (Pane, bool) {
	pid, name, ok := strings.Cut(env["STY"], ".")
	if !ok || !isName(name) || !isPID(pid, server) || !isNumber(env["WINDOW"]) {
		return Pane{}, false
	}
	p := Pane{Kind: Screen, Session: env["STY"], Window: env["WINDOW"]}
	if dir := env["SCREENDIR"]; filepath.IsAbs(dir) {
		p.Address = dir
	}
	return p, true
}

// zellij reads ZELLIJ_SESSION_NAME and ZELLIJ_PANE_ID.
func zellij(env map[string]string, server proc.Process) (Pane, bool) {
	name, id := env["ZELLIJ_SESSION_NAME"], env["ZELLIJ_PANE_ID"]
	if !runs(server, "zellij") || !isName(name) || !isNumber(id) {
		return Pane{}, false
	}
	return Pane{Kind: Zellij, Session: name, Pane: id, Address: name}, true
}

// wezterm reads WEZTERM_PANE and WEZTERM_UNIX_SOCKET.
func wezterm(env map[string]string, server proc.Process) (Pane, bool) {
	if id := env["WEZTERM_PANE"]; !runs(server, "wezterm-gui", "wezterm-mux-server") || !isNumber(id) {
		return Pane{}, false
	}
	p := Pane{Kind: WezTerm, Pane: env["WEZTERM_PANE"]}
	if socket := env["WEZTERM_UNIX_SOCKET"]; filepath.IsAbs(socket) {
		p.Address = socket
	}
	return p, true
}

// kitty reads KITTY_PID, KITTY_WINDOW_ID and KITTY_LISTEN_ON. What kitty calls a window is a pane of a tab.
func kitty(env map[string]string, server proc.Process) (Pane, bool) {
	if id := env["KITTY_WINDOW_ID"]; !isPID(env["KITTY_PID"], server) || !isNumber(id) {
		return Pane{}, false
	}
	p := Pane{Kind: Kitty, Pane: env["KITTY_WINDOW_ID"]}
	if address := env["KITTY_LISTEN_ON"]; strings.HasPrefix(address, "unix:") {
		p.Address = address
	}
	return p, true
}

// runs reports whether a process runs one of the programs. The kernel's short name counts where the path is not known.
func runs(p proc.Process, programs ...string) bool {
	return slices.Contains(programs, proc.ProgramName(cmp.Or(p.Exe, p.Name)))
}

func isPID(text string, p proc.Process) bool {
	return text == strconv.Itoa(p.ID.PID)
}

// maxNumber is the most digits of a number of a window or pane that count.
const maxNumber = 18

func isNumber(text string) bool {
	return text != "" && len(text) <= maxNumber && strings.Trim(text, "0123456789") == ""
}

// maxName is the longest name of a session that counts, in bytes. screen allows 80, and zellij what fits into the path of a socket.
const maxName = 255

// isName reports whether a text can be the name of a session. One that begins as a flag could be taken for one.
func isName(text string) bool {
	return text != "" && len(text) <= maxName && text[0] != '-' && !strings.ContainsFunc(text, unicode.IsControl)
}
