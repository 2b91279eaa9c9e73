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
	if c.climb(before); len(c.path) == 0 && !c.enter(c.root) {
		return false
	}
	for {
		n := c.top()
		from, to := 0, n.cells
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

// climb leaves the pages that the search may end beside of. It ends below one whose first cell is before and whose last cell
// is not, since nothing else stands between these.
func (c *cursor) climb(before func(n *node, i int) bool) {
	for n := len(c.path); n > 1; n-- {
		if p := c.top(); p.cells > 0 && before(&p.node, 0) && !before(&p.node, p.cells-1) {
			return
		}
		c.path = c.path[:n-1]
	}
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
