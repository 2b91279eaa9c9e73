package sqlite

// cursor is a place in a b-tree: the pages from the root to it. It stays where a search has left it, and the next one begins
// at the lowest of these pages that it must end below: what is looked for together mostly stands together.
type cursor struct {
	db     *DB
	root   uint32
	index  bool
	path   []step
	visits uint32 // pages that the search has gone to
}

// step is a page of the path, and where the path goes on: from the child before a cell, or, on its last page, from that cell.
type step struct {
	node
	at int
}

func (c *cursor) top() *step { return &c.path[len(c.path)-1] }

// seek goes to the leaf where the first cell stands that is not before what is searched for, or would stand; it is false
// after a failure. The cells of a tree are in order: before is true of the first of them up to some one.
func (c *cursor) seek(before func(n *node, i int) bool) bool {
	c.visits = 0
	if len(c.path) == 0 && !c.enter(c.root) {
		return false
	}
	for from, to := c.climb(before); ; from, to = 0, c.top().cells {
		n := c.top()
		for from < to { // as sort.Search does, in half the time
			if middle := (from + to) / 2; before(&n.node, middle) {
				from = middle + 1
			} else {
				to = middle
			}
		}
		n.at = from
		if n.leaf {
			return c.db.err == nil
		}
		n.held.stay(upperRounds)
		if !c.enter(n.child(n.at)) {
			return false
		}
	}
}

// climb leaves the pages that the search may end beside of, and says between which cells of the last one it goes on.
func (c *cursor) climb(before func(n *node, i int) bool) (from, to int) {
	for n := len(c.path); ; n-- {
		from, to, inside := c.top().near(before)
		if inside || n == 1 {
			return from, to
		}
		c.path = c.path[:n-1]
	}
}

// near narrows down where the first cell is that is not before what is searched for, from where the path goes on: the next
// one is mostly close to the last. It is inside of the page for certain where the first cell is before and the last one is
// not, since nothing else stands between these.
func (p *step) near(before func(n *node, i int) bool) (from, to int, inside bool) {
	last := p.cells - 1
	if last < 0 {
		return 0, 0, false
	}
	at := min(p.at, last)
	if before(&p.node, at) {
		if at == last || before(&p.node, last) {
			return p.cells, p.cells, false
		}
		from, to = at+1, last
		for width := 1; from+width < to; width *= 2 {
			if next := from + width; before(&p.node, next) {
				from = next + 1
			} else {
				to = next
			}
		}
		return from, to, true
	}
	if at == 0 || !before(&p.node, 0) {
		return 0, 0, false
	}
	from, to = 1, at
	for width := 1; from+width < to; width *= 2 {
		if next := to - width; before(&p.node, next) {
			from = next + 1
		} else {
			to = next
		}
	}
	return from, to, true
}

// enter goes to a child of the page, to its first cell. A page is in one place of one tree, so that a search over more pages
// than the database has goes round in a circle.
func (c *cursor) enter(number uint32) bool {
	if c.visits++; c.visits > c.db.pages || len(c.path) > maxDepth {
		return c.db.damaged("pages point at each other in a circle")
	}
	n, ok := c.db.node(number, 1, c.index)
	if ok {
		c.path = append(c.path, step{node: n})
	}
	return ok
}

// settle goes up to the next cell where the leaf has no more; it is false at the end of the tree.
func (c *cursor) settle() bool {
	for n := len(c.path); n > 0; n-- {
		if p := c.top(); p.at < p.cells {
			return true
		}
		c.path = c.path[:n-1]
	}
	return false
}

// next goes from a cell to the next one of an index; it is false where there is none, and after a failure.
func (c *cursor) next() bool {
	n := c.top()
	n.at++
	for ; !n.leaf; n = c.top() {
		if !c.enter(n.child(n.at)) {
			return false
		}
	}
	return c.settle()
}

// prev goes to the cell before this place in an index; it is false where there is none, and after a failure.
func (c *cursor) prev() bool {
	for n := c.top(); !n.leaf; n = c.top() {
		if !c.enter(n.child(n.at)) {
			return false
		}
		c.top().at = c.top().cells
	}
	for n := len(c.path); n > 0; n-- {
		if p := c.top(); p.at > 0 {
			p.at--
			return true
		}
		c.path = c.path[:n-1]
	}
	return false
}
