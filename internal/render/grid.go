package render

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// column is one column of a table.
type column struct {
	title string
	// cell returns the text of the column in a row.
	cell func(row int) string
	// dropEarly ranks columns that are dropped from a table that is too wide before any text is truncated below its preferred
	// width, dropLate those that are dropped if the minimum widths do not fit either. The highest rank is dropped first. A column
	// with neither stays.
	dropEarly, dropLate int
	// preferred and min are the widths to which texts may be truncated, see [grid.fit]; 0: not at all.
	preferred, min int
	// alignRight is for cells that are numbers.
	alignRight bool
	// keepEnd truncates texts at their beginning instead of their end.
	keepEnd bool
	// colored cells have the colour of their row.
	colored bool

	cells []string
	width int // the display width
}

// grid lays out the cells of columns by display width.
type grid struct {
	columns []column
	rows    int
	// color returns the colour of a row; "" for none.
	color func(row int) string
}

func newGrid(rows int, columns ...column) *grid {
	for i := range columns {
		c := &columns[i]
		c.cells = make([]string, rows)
		for row := range rows {
			c.cells[row] = c.cell(row)
		}
	}
	return &grid{columns: columns, rows: rows, color: func(int) string { return "" }}
}

// columnGap separates two columns.
const columnGap = "  "

// print writes the grid, fitted to the width of the terminal. Columns that are empty in all rows are left out.
func (g *grid) print(w io.Writer, opts TextOptions) error {
	out, width := bufio.NewWriter(w), opts.Width
	g.measure()
	if width > 0 {
		g.fit(width)
	}
	g.writeLine(out, width, func(c *column) string { return c.title }, "")
	for row := range g.rows {
		g.writeLine(out, width, func(c *column) string { return c.cells[row] }, g.color(row))
	}
	return out.Flush()
}

// measure computes the natural width of each column, and removes empty columns.
func (g *grid) measure() {
	for i := range g.columns {
		c := &g.columns[i]
		for _, text := range c.cells {
			c.width = max(c.width, displaywidth.String(text))
		}
	}
	g.columns = slices.DeleteFunc(g.columns, func(c column) bool { return c.width == 0 })
	for i := range g.columns {
		c := &g.columns[i]
		c.width = max(c.width, len(c.title))
	}
}

// fit reduces the grid to a width, in four steps. It drops the columns ranked by dropEarly; it truncates texts to their
// preferred width, the last columns first; it truncates them to their minimum width; it drops further columns.
func (g *grid) fit(width int) {
	early, late := func(c *column) int { return c.dropEarly }, func(c *column) int { return c.dropLate }
	for g.totalWidth(preferredWidth) > width && g.dropColumn(early) {
	}
	for g.totalWidth(minWidth) > width && (g.dropColumn(early) || g.dropColumn(late)) {
	}
	for _, size := range []func(*column) int{preferredWidth, minWidth} {
		for i := range slices.Backward(g.columns) {
			c := &g.columns[i]
			excess := max(0, g.totalWidth(func(c *column) int { return c.width })-width)
			c.width = max(min(c.width, size(c)), c.width-excess)
		}
	}
}

// dropColumn removes the first column with the highest rank. It reports false if all ranks are 0.
func (g *grid) dropColumn(rank func(*column) int) bool {
	first, highest := -1, 0
	for i := range g.columns {
		if n := rank(&g.columns[i]); n > highest {
			first, highest = i, n
		}
	}
	if first < 0 {
		return false
	}
	g.columns = slices.Delete(g.columns, first, first+1)
	return true
}

func (g *grid) totalWidth(size func(*column) int) int {
	n := len(columnGap) * (len(g.columns) - 1)
	for i := range g.columns {
		n += size(&g.columns[i])
	}
	return n
}

// preferredWidth is the width below which the text of a column becomes hard to read.
func preferredWidth(c *column) int {
	if c.preferred == 0 {
		return minWidth(c)
	}
	return min(c.width, c.preferred)
}

// minWidth is the smallest width to which a column may be truncated.
func minWidth(c *column) int {
	if c.min == 0 {
		return c.width
	}
	return min(c.width, c.min)
}

// writeLine prints one line without trailing blanks. It truncates the line if the last columns do not fit. An
// empty color prints the line uncoloured.
func (g *grid) writeLine(out *bufio.Writer, width int, cell func(*column) string, color string) {
	line, pad := 0, 0 // widths: of the text printed so far, and of the blanks before the next text
	for i := range g.columns {
		c := &g.columns[i]
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
