package output

import "slices"

// fit reduces the grid to a width, in four steps. It drops the optional columns; it truncates texts to their
// preferred width; it truncates them to their minimum width; it drops further columns. Columns are dropped by
// their dropOrder, the highest first.
func (g *grid) fit(width int) {
	for g.totalWidth(preferredWidth) > width && g.dropColumn(optional) {
	}
	for g.totalWidth(minWidth) > width && g.dropColumn(1) {
	}
	for _, size := range []func(column) int{preferredWidth, minWidth} {
		for i := range g.columns {
			c := &g.columns[i]
			excess := max(0, g.totalWidth(naturalWidth)-width)
			c.width = max(min(c.width, size(*c)), c.width-excess)
		}
	}
}

// optional is the dropOrder from which on a column is dropped before any text is truncated.
const optional = 10

// dropColumn removes the column with the highest dropOrder. It reports false if no column has a dropOrder of at
// least threshold.
func (g *grid) dropColumn(threshold int) bool {
	first := -1
	for i, c := range g.columns {
		if c.dropOrder >= threshold && (first < 0 || c.dropOrder > g.columns[first].dropOrder) {
			first = i
		}
	}
	if first < 0 {
		return false
	}
	g.columns = slices.Delete(g.columns, first, first+1)
	return true
}

// totalWidth is the width of the grid if each column has the width that size returns.
func (g *grid) totalWidth(size func(column) int) int {
	n := len(columnGap) * (len(g.columns) - 1)
	for _, c := range g.columns {
		n += size(c)
	}
	return n
}

func naturalWidth(c column) int { return c.width }

// preferredWidth is the width below which the text of a column becomes hard to read.
func preferredWidth(c column) int {
	if c.preferred == 0 {
		return minWidth(c)
	}
	return min(c.width, c.preferred)
}

// minWidth is the smallest width to which a column may be truncated.
func minWidth(c column) int {
	if c.min == 0 {
		return c.width
	}
	return min(c.width, c.min)
}
