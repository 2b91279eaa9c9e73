package output

import "slices"

// fit reduces the grid to a width, in four steps. It drops the columns ranked by dropEarly; it truncates texts to their
// preferred width; it truncates them to their minimum width; it drops further columns.
func (g *grid) fit(width int) {
	early, late := func(c *column) int { return c.dropEarly }, func(c *column) int { return c.dropLate }
	for g.totalWidth(preferredWidth) > width && g.dropColumn(early) {
	}
	for g.totalWidth(minWidth) > width && (g.dropColumn(early) || g.dropColumn(late)) {
	}
	for _, size := range []func(*column) int{preferredWidth, minWidth} {
		for i := range g.columns {
			c := &g.columns[i]
			excess := max(0, g.totalWidth(naturalWidth)-width)
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

func naturalWidth(c *column) int { return c.width }

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
