package output

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// column is one column of a grid.
type column struct {
	header string
	// dropOrder: the column with the highest number is left out first where the width does not suffice, from [optional] on before
	// texts are shortened; 0: never.
	dropOrder int
	// preferred and least are the widths to which its texts may be shortened, see [grid.fit]; 0: not at all.
	preferred, min int
	// alignRight: its cells are numbers, which end below each other.
	alignRight bool
	// keepEnd: of a text too long the end is shown, not the beginning.
	keepEnd bool
	// colored: cells take their row's colour.
	colored bool
	width   int
	index   int // which of a row's cells it shows
}

type row struct {
	cells []string
	color string
}

// grid lays out rows of cells in columns by display width.
type grid struct {
	columns []column
	rows    []row
}

func (g *grid) add(r row) { g.rows = append(g.rows, r) }

// flush writes the grid to fit the terminal.
func (g *grid) flush(w io.Writer, look TextOptions) error {
	out := bufio.NewWriter(w)
	g.write(out, look.Width)
	return out.Flush()
}

// columnGap separates two columns.
const columnGap = "  "

// write lays out and prints; a width of 0 is unlimited. Columns that are empty in all rows are left out.
func (g *grid) write(out *bufio.Writer, width int) {
	g.measure()
	if width > 0 {
		g.fit(width)
	}
	g.writeLine(out, width, func(c column) string { return c.header }, "")
	for _, r := range g.rows {
		g.writeLine(out, width, func(c column) string { return r.cells[c.index] }, r.color)
	}
}

// measure finds each column's natural width, and leaves out what is empty.
func (g *grid) measure() {
	for i := range g.columns {
		c := &g.columns[i]
		c.index = i
		for _, r := range g.rows {
			c.width = max(c.width, displaywidth.String(r.cells[i]))
		}
	}
	g.columns = slices.DeleteFunc(g.columns, func(c column) bool { return c.width == 0 })
	for i := range g.columns {
		c := &g.columns[i]
		c.width = max(c.width, len(c.header))
	}
}

// writeLine prints one line without trailing blanks, cut at the width if even the last columns do not fit. Without a color
// nothing is painted.
func (g *grid) writeLine(out *bufio.Writer, width int, cell func(column) string, color string) {
	line, pad := 0, 0 // the width of what is printed, and of the blanks before what comes next
	for _, c := range g.columns {
		text := strings.TrimRight(truncate(cell(c), c.width, c.keepEnd), " ")
		free := c.width - displaywidth.String(text)
		if c.alignRight {
			pad += free
		}
		if width > 0 {
			text = truncate(text, max(0, width-line-pad), false)
		}
		if text != "" {
			n := displaywidth.String(text)
			fmt.Fprintf(out, "%*s", pad, "")
			line, pad = line+pad+n, 0
			free = c.width - n
			if color != "" && c.colored {
				text = "\x1b[" + color + "m" + text + "\x1b[0m"
			}
			out.WriteString(text)
		}
		if !c.alignRight {
			pad += free
		}
		pad += len(columnGap)
	}
	out.WriteByte('\n')
}

// Truncate is a text with an ellipsis at its end if it is wider than that many columns.
func Truncate(s string, width int) string { return truncate(s, width, false) }

// truncate shortens a text to a width with an ellipsis at the end, or at the beginning if the tail is what tells.
func truncate(s string, width int, tail bool) string {
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
