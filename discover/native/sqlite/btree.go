package sqlite

import "encoding/binary"

// Kinds of b-tree pages (1.6).
const (
	indexInterior = 0x02
	tableInterior = 0x05
	indexLeaf     = 0x0a
	tableLeaf     = 0x0d
)

// maxDepth is how deep SQLite's own trees can be.
const maxDepth = 20

// node is a page of a b-tree.
type node struct {
	db       *DB
	number   uint32
	cells    int
	pointers int // where the list of cells begins
	leaf     bool
	held     *cached // the page, for as long as the number there is this one
}

// page gives the page, looked up again where its memory was taken for another one since; nil after a failure.
func (n *node) page() []byte {
	if n.held.number == n.number {
		return n.held.page
	}
	return n.again()
}

// again stays a call of its own, so that page is none: it is asked for with every comparison of a search.
//
//go:noinline
func (n *node) again() []byte {
	held := n.db.cached(n.number, 0)
	if held == nil {
		return nil
	}
	n.held = held
	return held.page
}

// open reads a page of a table or of an index; it is false after a failure.
func (n *node) open(d *DB, number uint32, run int, index bool) bool {
	held := d.cached(number, run)
	if held == nil {
		return false
	}
	page, at := held.page, 0
	if number == 1 {
		at = headerSize
	}
	kind := page[at]
	*n = node{db: d, number: number, leaf: kind == tableLeaf || kind == indexLeaf, pointers: at + 8, held: held}
	if !n.leaf {
		n.pointers += 4
	}
	if known := n.leaf || kind == tableInterior || kind == indexInterior; !known || index != (kind == indexLeaf || kind == indexInterior) {
		return d.damaged("page %d has the type %d", number, kind)
	}
	if n.cells = int(binary.BigEndian.Uint16(page[at+3:])); n.pointers+2*n.cells > len(page) {
		return d.damaged("page %d has %d cells", number, n.cells)
	}
	return true
}

// cell is where a cell begins on the page. The page need not have that place.
func (n *node) cell(page []byte, i int) int {
	pointer := n.pointers + 2*i
	return int(page[pointer])<<8 | int(page[pointer+1])
}

// child is the page below and before a cell; that after the last one where i is the number of cells.
func (n *node) child(i int) uint32 {
	page, at := n.page(), n.pointers-4
	if page != nil && i < n.cells {
		at = n.cell(page, i)
	}
	if at+4 > len(page) {
		return 0 // which no page has as its number
	}
	return binary.BigEndian.Uint32(page[at:])
}

// run is how many pages follow each other in the file as they do in the tree.
func (n *node) run(i int) int {
	first, k := n.child(i), 1
	for k < maxRun && i+k <= n.cells && n.child(i+k) == first+uint32(k) {
		k++
	}
	return k
}

// rowid is that of a cell of a table's page. On one that is no leaf, no rowid below the cell is larger.
func (n *node) rowid(i int) int64 {
	page := n.page()
	if page == nil {
		return 0
	}
	at := n.cell(page, i)
	if n.leaf {
		_, at = varint(page, at) // the size of the row
	} else {
		at += 4
	}
	id, _ := varint(page, at)
	return int64(id)
}

// leafRow takes a cell of a table's leaf.
func (r *Row) leafRow(n *node, i int) bool {
	page := n.page()
	if page == nil {
		return false
	}
	size, at := varint(page, n.cell(page, i))
	rowid, at := varint(page, at)
	if at > len(page) {
		return r.table.db.damaged("a row is cut off")
	}
	r.rowid = int64(rowid)
	return r.set(page[at:], size, false) && r.parse()
}

// seek reads the row with a rowid; it is false where there is none, and after a failure.
func (r *Row) seek(rowid int64) bool {
	c := &r.table.cursor
	if r.rowid = rowid; !c.seek(r) {
		return false
	}
	n := c.top()
	return n.at < n.cells && n.rowid(n.at) == rowid && r.leafRow(&n.node, n.at)
}

// precedes reports whether a row stands before the one that is searched for.
func (r *Row) precedes(n *node, i int) bool { return n.rowid(i) < r.rowid }

// walk goes through a tree. A page is in one place of one tree, so that a walk over more pages than the database has
// goes round in a circle.
type walk struct {
	db     *DB
	index  bool
	visits uint32
}

func (w *walk) node(number uint32, run, depth int) (n node, ok bool) {
	if w.visits++; w.visits > w.db.pages || depth > maxDepth {
		return n, w.db.damaged("pages point at each other in a circle")
	}
	ok = n.open(w.db, number, run, w.index)
	return n, ok
}

// rows yields all rows of a table below a page, by rowid, each in the same r; it is false where yield wants no more, and after
// a failure.
func (w *walk) rows(page uint32, run, depth int, r *Row, yield func(*Row) bool) bool {
	n, ok := w.node(page, run, depth)
	if !ok {
		return false
	}
	if n.leaf {
		for i := range n.cells {
			if !r.leafRow(&n, i) || !yield(r) {
				return false
			}
		}
		return true
	}
	for i := range n.cells + 1 {
		if !w.rows(n.child(i), n.run(i), depth+1, r, yield) {
			return false
		}
	}
	return true
}
