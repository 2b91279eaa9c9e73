package term

import (
	"image/color"

	uv "github.com/charmbracelet/ultraviolet"
)

// Cell is one cell of the screen.
type Cell struct {
	// Text is the character; "" is the rest of a wide character before it.
	Text string
	// Foreground and Background are nil where the terminal's own colour is shown.
	Foreground, Background color.Color
	Bold, Faint, Reverse   bool
}

// Cells returns the rows of the screen, cell by cell.
func (t *Terminal) Cells() [][]Cell {
	t.mu.Lock()
	defer t.mu.Unlock()
	rows := make([][]Cell, t.screen.Height())
	for y := range rows {
		rows[y] = make([]Cell, t.screen.Width())
		for x := 0; x < len(rows[y]); {
			c, next := t.screen.CellAt(x, y), x+1
			if c == nil || c.Content == "" {
				rows[y][x].Text = " "
			} else {
				has := func(attribute uint8) bool { return c.Style.Attrs&attribute != 0 }
				rows[y][x] = Cell{c.Content, c.Style.Fg, c.Style.Bg, has(uv.AttrBold), has(uv.AttrFaint), has(uv.AttrReverse)}
				next = x + max(1, c.Width)
			}
			x = next
		}
	}
	return rows
}
