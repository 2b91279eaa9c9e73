package term

import (
	"fmt"
	"html"
	"image/color"
	"slices"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// The size of a cell, and of the edge around the cells, in pixels; where in a cell the base line of the text is.
const (
	cellWidth, cellHeight = 8.4, 18
	edge                  = 12
	baseline              = 13
)

// The colours of the picture: those of the terminal itself, and the eight of its palette.
const (
	background = "#1b1e24"
	foreground = "#d8dce2"
)

func palette() []string {
	return []string{"#16181d", "#f2777a", "#8fd18f", "#e8c268", "#7aa6da", "#d38bd3", "#5fc3c8", foreground}
}

// SVG draws cells as a picture, without the empty rows at their end. Texts are texts in it, each at its place, so that they can be
// searched, and wide characters move nothing.
func SVG(rows [][]Cell) string {
	for len(rows) > 0 && !slices.ContainsFunc(rows[len(rows)-1], func(c Cell) bool { return strings.TrimSpace(c.Text) != "" || c.filled() }) {
		rows = rows[:len(rows)-1]
	}
	columns := 0
	if len(rows) > 0 {
		columns = len(rows[0])
	}
	width, height := float64(columns)*cellWidth+2*edge, len(rows)*cellHeight+2*edge
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" width="%.0f" height="%d" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", background)
	for y, row := range rows {
		for x := 0; x < len(row); {
			end := x + 1
			for end < len(row) && row[end].continues(row[x], row[end-1]) {
				end++
			}
			drawRun(&b, x, y, row[x:end])
			x = end
		}
	}
	return b.String() + "</svg>\n"
}

// filled reports whether the cell is more than its text.
func (c Cell) filled() bool { return c.Reverse || c.Background != nil }

// continues reports whether the cell is of the same run as the first one: the same style, and no text after a blank, unless the run
// is filled.
func (c Cell) continues(first, before Cell) bool {
	if c.Text == "" {
		return true
	}
	style := func(c Cell) Cell { c.Text = ""; return c }
	return style(c) == style(first) && (c.filled() || (c.Text == " ") == (before.Text == " "))
}

// drawRun draws cells of one style that begin in column x of row y.
func drawRun(b *strings.Builder, x, y int, run []Cell) {
	front, back := hex(run[0].Foreground, foreground), hex(run[0].Background, background)
	if run[0].Reverse {
		front, back = back, front
	}
	left, top, width := edge+float64(x)*cellWidth, edge+y*cellHeight, float64(len(run))*cellWidth
	if run[0].filled() {
		fmt.Fprintf(b, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"/>`+"\n", left, top, width, cellHeight, back)
	}
	var text strings.Builder
	for _, c := range run {
		text.WriteString(c.Text)
	}
	if strings.TrimSpace(text.String()) == "" {
		return
	}
	style := ""
	if run[0].Bold {
		style += ` font-weight="bold"`
	}
	if run[0].Faint {
		style += ` opacity="0.6"`
	}
	fmt.Fprintf(b, `<text xml:space="preserve" x="%.1f" y="%d" textLength="%.1f" lengthAdjust="spacingAndGlyphs" fill="%s"%s>%s</text>`+"\n",
		left, top+baseline, width, front, style, html.EscapeString(text.String()))
}

// hex is a colour as SVG has it; none is the terminal's own.
func hex(c color.Color, none string) string {
	if basic, ok := c.(ansi.BasicColor); ok {
		return palette()[int(basic)%len(palette())]
	}
	if c == nil {
		return none
	}
	const bits = 8 // of the 16 that RGBA returns, the upper half
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>bits, g>>bits, b>>bits)
}

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
