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

// sought is what is searched for. The cells of a tree are in order, and the first of them, up to some one, precede it.
type sought interface {
	precedes(n *node, i int) bool
}

// seek goes to the leaf where the first cell stands that is not before what is searched for, or would stand; it is false
// after a failure.
func (c *cursor) seek(what sought) bool {
	c.visits = 0
	if len(c.path) == 0 && !c.enter(c.root) {
		return false
	}
	for from, to := c.climb(what); ; from, to = 0, c.top().cells {
		n := c.top()
		for from < to { // as sort.Search does, in half the time
			if middle := (from + to) / 2; what.precedes(&n.node, middle) {
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

// climb leaves the pages that the search may end beside of, and says between which cells of the last one it goes on: behind
// the place where the search before ended or not, which is so on all of these pages.
func (c *cursor) climb(what sought) (from, to int) {
	n := c.top()
	if n.cells == 0 { // as that of an empty table: there is no place to go on from
		c.path = c.path[:1]
		return 0, c.top().cells
	}
	behind := what.precedes(&n.node, min(n.at, n.cells-1))
	for len(c.path) > 1 && !n.holds(behind, what) {
		c.path = c.path[:len(c.path)-1]
		n = c.top()
	}
	return n.near(behind, what)
}

// holds reports whether the search ends below the page for certain, as it does where the first cell is before and the last
// one is not: nothing else stands between these.
func (p *step) holds(behind bool, what sought) bool {
	switch {
	case p.cells == 0:
		return false
	case behind:
		return !what.precedes(&p.node, p.cells-1)
	}
	return what.precedes(&p.node, 0)
}

// near narrows down where the search ends, in steps that grow from where the one before ended: mostly that is close.
func (p *step) near(behind bool, what sought) (from, to int) {
	if behind {
		from, to = min(p.at, p.cells), p.cells
	} else {
		from, to = 0, min(p.at, p.cells)
	}
	for width := 1; from+width < to; width *= 2 {
		next := to - width
		if behind {
			next = from + width
		}
		if what.precedes(&p.node, next) {
			from = next + 1
		} else {
			to = next
		}
	}
	return from, to
}

// enter goes to a child of the page, to its first cell. A page is in one place of one tree, so that a search over more pages
// than the database has goes round in a circle.
func (c *cursor) enter(number uint32) bool {
	if c.visits++; c.visits > c.db.pages || len(c.path) > maxDepth {
		return c.db.damaged("pages point at each other in a circle")
	}
	c.path = append(c.path, step{})
	if !c.top().open(c.db, number, 1, c.index) {
		c.path = c.path[:len(c.path)-1]
		return false
	}
	return true
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
