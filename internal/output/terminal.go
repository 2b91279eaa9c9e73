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

// NewTerminal converts the pane to its JSON object; nil for none.
func NewTerminal(p *multiplexer.Pane) *Terminal {
	if p == nil {
		return nil
	}
	return &Terminal{string(p.Kind), p.Session, p.Window, p.Pane}
}

// TerminalText says on one line where a process runs, such as "/dev/pts/3, tmux work:2 %5", safe for a terminal; "" if it has no
// terminal.
func TerminalText(tty string, t *Terminal) string {
	if t == nil {
		return Sanitize(tty)
	}
	return Sanitize(tty + ", " + t.text())
}

// text names the pane: the kind, the session and window with a colon between them, and the pane.
func (t *Terminal) text() string {
	words := []string{t.Kind}
	switch {
	case t.Session != "" && t.Window != "":
		words = append(words, t.Session+":"+t.Window)
	case t.Session != "":
		words = append(words, t.Session)
	case t.Window != "":
		words = append(words, t.Window)
	}
	if t.Pane != "" {
		words = append(words, t.Pane)
	}
	return Sanitize(strings.Join(words, " "))
}

// terminalCell is the pane, or else the terminal without /dev/.
func terminalCell(s *Session) string {
	if s.Terminal != nil {
		return s.Terminal.text()
	}
	return Sanitize(strings.TrimPrefix(s.TTY, "/dev/"))
}
