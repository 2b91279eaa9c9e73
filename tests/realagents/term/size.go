package term

import "github.com/creack/pty"

// Resize gives the terminal another size, in cells, and tells its programs.
func (t *Terminal) Resize(columns, rows int) error {
	t.mu.Lock()
	t.screen.Resize(columns, rows)
	t.mu.Unlock()
	return pty.Setsize(t.tty, &pty.Winsize{Cols: uint16(columns), Rows: uint16(rows)})
}
