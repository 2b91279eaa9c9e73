package output

import "slices"

// fit makes the grid at most as wide as a terminal. First it leaves out the columns that are optional, then it shortens texts to what
// is comfortable to read, then to the least that tells something, and last it leaves out further columns. Columns with a drop go in
// the order of it, the highest first.
func (g *grid) fit(width int) {
	for g.totalWidth(preferredWidth) > width && g.dropColumn(optional) {
	}
	for g.totalWidth(minWidth) > width && g.dropColumn(1) {
	}
	for _, size := range []func(column) int{preferredWidth, minWidth} {
		for i := range g.columns {
			c := &g.columns[i]
			over := max(0, g.totalWidth(naturalWidth)-width)
			c.width = max(min(c.width, size(*c)), c.width-over)
		}
	}
}

// optional is from which drop on a column is left out before texts are shortened.
const optional = 10

// dropColumn leaves out the column with the highest drop, if that is at least so much.
func (g *grid) dropColumn(from int) bool {
	last := -1
	for i, c := range g.columns {
		if c.dropOrder >= from && (last < 0 || c.dropOrder > g.columns[last].dropOrder) {
			last = i
		}
	}
	if last < 0 {
		return false
	}
	g.columns = slices.Delete(g.columns, last, last+1)
	return true
}

// totalWidth is the width of the grid with columns of this size.
func (g *grid) totalWidth(size func(column) int) int {
	n := len(columnGap) * (len(g.columns) - 1)
	for _, c := range g.columns {
		n += size(c)
	}
	return n
}

func naturalWidth(c column) int { return c.width }

// preferredWidth is the width to which a column can be shortened so that its text is still good to read.
func preferredWidth(c column) int {
	if c.preferred == 0 {
		return minWidth(c)
	}
	return min(c.width, c.preferred)
}

// minWidth is the width to which a column can be shortened at all.
func minWidth(c column) int {
	if c.min == 0 {
		return c.width
	}
	return min(c.width, c.min)
}
