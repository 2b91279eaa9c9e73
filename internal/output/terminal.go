package output

import (
	"strings"

	"agentctl/proc/multiplexer"
)

// Terminal is the JSON object of the pane of a terminal multiplexer, or of the window of a terminal emulator.
type Terminal struct {
	Kind    string `json:"kind"`
	Session string `json:"session,omitempty"`
	Window  string `json:"window,omitempty"`
	Pane    string `json:"pane,omitempty"`
}

func newTerminal(p *multiplexer.Pane) *Terminal {
	if p == nil {
		return nil
	}
	return &Terminal{string(p.Kind), p.Session, p.Window, p.Pane}
}

// TerminalText says on one line where a process runs, such as "/dev/pts/3, tmux work:2 %5", safe for a terminal; "" if it has no
// terminal.
func TerminalText(tty string, p *multiplexer.Pane) string {
	if p == nil {
		return Sanitize(tty)
	}
	return Sanitize(tty + ", " + paneText(p))
}

// paneText names the pane: the kind, the session and window with a colon between them, and the pane.
func paneText(p *multiplexer.Pane) string {
	words := []string{string(p.Kind)}
	switch {
	case p.Session != "" && p.Window != "":
		words = append(words, p.Session+":"+p.Window)
	case p.Session != "":
		words = append(words, p.Session)
	case p.Window != "":
		words = append(words, p.Window)
	}
	if p.Pane != "" {
		words = append(words, p.Pane)
	}
	return Sanitize(strings.Join(words, " "))
}

// terminalCell is the pane, or else the terminal without /dev/.
func terminalCell(tty string, p *multiplexer.Pane) string {
	if p != nil {
		return paneText(p)
	}
	return Sanitize(strings.TrimPrefix(tty, "/dev/"))
}
