package render

import (
	"bufio"
	"io"
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// column is one column of a grid.
type column struct {
	head string
	// drop: the column with the highest number is left out first where the width does not suffice, from [optional] on before
	// texts are shortened; 0: never.
	drop int
	// comfort and least are the widths to which its texts may be shortened, see [grid.fit]; 0: not at all.
	comfort, least int
	// right: its cells are numbers, which end below each other.
	right bool
	// tail: of a text too long the end is shown, not the beginning.
	tail bool
	// paint: cells take their row's colour.
	paint bool
	width int
	at    int // which of a row's cells it shows
}

type row struct {
	cells []string
	color string
}

// grid lays out rows of cells in columns by display width.
type grid struct {
	columns []column
	rows    []row
	widths  []int // of the cells, row by row, once they are measured
}

func (g *grid) add(r row) { g.rows = append(g.rows, r) }

// print writes the grid to fit the terminal.
func (g *grid) print(w io.Writer, look Look) error {
	out := bufio.NewWriter(w)
	g.write(out, look.Width)
	return out.Flush()
}

// gap separates two columns.
const gap = "  "

// write lays out and prints; a width of 0 is unlimited. Columns that are empty in all rows are left out.
func (g *grid) write(out *bufio.Writer, width int) {
	g.measure()
	if width > 0 {
		g.fit(width)
	}
	heads, widths := row{cells: make([]string, g.cells())}, make([]int, g.cells())
	for _, c := range g.columns {
		heads.cells[c.at], widths[c.at] = c.head, len(c.head)
	}
	g.writeRow(out, heads, widths, width, false)
	for n, r := range g.rows {
		g.writeRow(out, r, g.widths[n*g.cells():], width, true)
	}
}

// cells is how many cells a row has.
func (g *grid) cells() int {
	if len(g.rows) == 0 {
		return 0
	}
	return len(g.rows[0].cells)
}

// measure finds each column's natural width, and leaves out what is empty.
func (g *grid) measure() {
	g.widths = make([]int, 0, len(g.rows)*len(g.columns))
	for _, r := range g.rows {
		for i, text := range r.cells {
			width := displaywidth.String(text)
			g.widths = append(g.widths, width)
			g.columns[i].width = max(g.columns[i].width, width)
		}
	}
	for i := range g.columns {
		g.columns[i].at = i
	}
	g.columns = slices.DeleteFunc(g.columns, func(c column) bool { return c.width == 0 })
	for i := range g.columns {
		c := &g.columns[i]
		c.width = max(c.width, len(c.head))
	}
}

// writeRow prints one line without trailing blanks, cut at the width if even the last columns do not fit. widths are those of
// the row's cells.
func (g *grid) writeRow(out *bufio.Writer, r row, widths []int, width int, painted bool) {
	left := width
	pad := 0
	for _, c := range g.columns {
		text, n := r.cells[c.at], widths[c.at]
		if n > c.width {
			text = cut(text, c.width, c.tail)
			n = displaywidth.String(text)
		}
		if c.right {
			pad += c.width - n
		}
		whole := len(text)
		text = strings.TrimRight(text, " ")
		n -= whole - len(text)
		if room := max(0, left-pad); width > 0 && n > room {
			text = cut(text, room, false)
			n = displaywidth.String(text)
		}
		if text == "" {
			pad += len(gap)
			if !c.right {
				pad += c.width
			}
			continue
		}
		writeBlanks(out, pad)
		left -= pad + n
		if painted && c.paint {
			text = "\x1b[" + r.color + "m" + text + "\x1b[0m"
		}
		out.WriteString(text)
		if pad = len(gap); !c.right {
			pad += c.width - n
		}
	}
	out.WriteByte('\n')
}

func writeBlanks(out *bufio.Writer, n int) {
	const some = "                                "
	for ; n > len(some); n -= len(some) {
		out.WriteString(some)
	}
	out.WriteString(some[:max(0, n)])
}

// Shortened is a text with an ellipsis at its end if it is wider than that many columns.
func Shortened(s string, width int) string { return cut(s, width, false) }

// cut shortens a text to a width with an ellipsis at the end, or at the beginning if the tail is what tells.
func cut(s string, width int, tail bool) string {
	if displaywidth.String(s) <= width {
		return s
	}
	if !tail {
		return strings.TrimRight(displaywidth.TruncateString(s, width, ellipsis(width)), " ")
	}
	var ends []int // where each character begins
	g := displaywidth.StringGraphemes(s)
	for at := 0; g.Next(); at += len(g.Value()) {
		ends = append(ends, at)
	}
	best := ellipsis(width)
	for _, at := range slices.Backward(ends) {
		if displaywidth.String("…"+s[at:]) > width {
			break
		}
		best = "…" + s[at:]
	}
	return best
}

// ellipsis is what stands for the part cut off, if there is room for it.
func ellipsis(width int) string {
	if width < 1 {
		return ""
	}
	return "…"
}
