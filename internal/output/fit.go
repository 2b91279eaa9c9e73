package output

import "slices"

// fit makes the grid at most as wide as a terminal. First it leaves out the columns that are optional, then it shortens texts to what
// is comfortable to read, then to the least that tells something, and last it leaves out further columns. Columns with a drop go in
// the order of it, the highest first.
func (g *grid) fit(width int) {
	for g.total(comfortable) > width && g.leaveOut(optional) {
	}
	for g.total(least) > width && g.leaveOut(1) {
	}
	for _, size := range []func(column) int{comfortable, least} {
		for i := range g.columns {
			c := &g.columns[i]
			over := max(0, g.total(natural)-width)
			c.width = max(min(c.width, size(*c)), c.width-over)
		}
	}
}

// optional is from which drop on a column is left out before texts are shortened.
const optional = 10

// leaveOut leaves out the column with the highest drop, if that is at least so much.
func (g *grid) leaveOut(from int) bool {
	last := -1
	for i, c := range g.columns {
		if c.drop >= from && (last < 0 || c.drop > g.columns[last].drop) {
			last = i
		}
	}
	if last < 0 {
		return false
	}
	g.columns = slices.Delete(g.columns, last, last+1)
	return true
}

// total is the width of the grid with columns of this size.
func (g *grid) total(size func(column) int) int {
	n := len(gap) * (len(g.columns) - 1)
	for _, c := range g.columns {
		n += size(c)
	}
	return n
}

func natural(c column) int { return c.width }

// comfortable is the width to which a column can be shortened so that its text is still good to read.
func comfortable(c column) int {
	if c.comfort == 0 {
		return least(c)
	}
	return min(c.width, c.comfort)
}

// least is the width to which a column can be shortened at all.
func least(c column) int {
	if c.least == 0 {
		return c.width
	}
	return min(c.width, c.least)
}
