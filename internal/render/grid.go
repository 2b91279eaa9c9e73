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
	// drop: the column with the highest number goes first where the width does not suffice; 0: never.
	drop int
	// tail: of a text too long the end is shown, not the beginning.
	tail bool
	// paint: cells take their row's colour.
	paint bool
	width int
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
	heads := row{}
	for _, c := range g.columns {
		heads.cells = append(heads.cells, c.head)
	}
	for i, r := range slices.Insert(slices.Clone(g.rows), 0, heads) {
		g.writeRow(out, r, width, i > 0)
	}
}

// measure finds each column's natural width, and leaves out what is empty.
func (g *grid) measure() {
	for i := len(g.columns) - 1; i >= 0; i-- {
		c := &g.columns[i]
		for _, r := range g.rows {
			c.width = max(c.width, displaywidth.String(r.cells[i]))
		}
		if c.width == 0 {
			g.remove(i)
			continue
		}
		c.width = max(c.width, len(c.head))
	}
}

func (g *grid) remove(i int) {
	g.columns = slices.Delete(slices.Clone(g.columns), i, i+1)
	for n, r := range g.rows {
		g.rows[n].cells = slices.Delete(slices.Clone(r.cells), i, i+1)
	}
}

// fit shrinks the texts a person can do with a part of, in turn, and then leaves out columns.
func (g *grid) fit(width int) {
	for _, step := range []struct {
		head string
		to   int
	}{{"TITLE", 30}, {"DIR", 20}, {"PATH", 20}, {"TITLE", 12}, {"DIR", 12}, {"GROUP", 12}, {"DOING", 16}, {"STATE", 20}, {"BRANCH", 12}, {"COMMAND", 20}} {
		for i := range g.columns {
			if c := &g.columns[i]; c.head == step.head {
				over := g.width() - width
				c.width = max(min(c.width, step.to), c.width-max(0, over))
			}
		}
	}
	for g.width() > width {
		last := 0
		for i, c := range g.columns {
			if c.drop > g.columns[last].drop {
				last = i
			}
		}
		if g.columns[last].drop == 0 {
			return
		}
		g.remove(last)
	}
}

func (g *grid) width() int {
	n := len(gap) * (len(g.columns) - 1)
	for _, c := range g.columns {
		n += c.width
	}
	return n
}

// writeRow prints one line without trailing blanks, cut at the width if even the last columns do not fit.
func (g *grid) writeRow(out *bufio.Writer, r row, width int, painted bool) {
	left := width
	pad := 0
	for i, c := range g.columns {
		text := strings.TrimRight(cut(r.cells[i], c.width, c.tail), " ")
		if width > 0 {
			text = cut(text, max(0, left-pad), false)
		}
		if text == "" {
			pad += c.width + len(gap)
			continue
		}
		out.WriteString(strings.Repeat(" ", pad))
		n := displaywidth.String(text)
		left -= pad + n
		if painted && c.paint {
			text = "\x1b[" + r.color + "m" + text + "\x1b[0m"
		}
		out.WriteString(text)
		pad = c.width - n + len(gap)
	}
	out.WriteByte('\n')
}

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
