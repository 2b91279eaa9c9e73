package sqlite

import (
	"fmt"
	"io"
	"testing"
)

// rows5000 is a table with an index, both of some levels.
func rows5000(t *testing.T) *Table {
	t.Helper()
	d, err := write(
		t, "pragma page_size=512", "create table t(id text primary key, filler)",
		"with recursive s(v) as (select 1 union all select v + 1 from s where v < 5000) insert into t select printf('k%05d', v), hex(zeroblob(20)) from s",
	)
	if err != nil {
		t.Fatal(err)
	}
	table, err := d.Table("t")
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// find searches for a row by its text.
func find(t *testing.T, table *Table, number int) {
	t.Helper()
	n := 0
	for r := range table.Equal("id", fmt.Sprintf("k%05d", number)).Up() {
		if n++; r.rowid != int64(number) {
			t.Fatalf("row %d, want %d", r.rowid, number)
		}
	}
	if n != 1 || table.db.Err() != nil {
		t.Fatalf("%d rows of %d, %v", n, number, table.db.Err())
	}
}

// A search of what stands beside that of the search before goes to the pages that are others, not from the root again.
func TestSearchesBesideEachOtherShareTheirWay(t *testing.T) {
	table := rows5000(t)
	for name, at := range map[string]func(i int) int{
		"up": func(i int) int { return i }, "down": func(i int) int { return 4999 - i }, "far apart": func(i int) int { return i * 3091 % 5000 },
	} {
		var index, rows uint32 // pages that were gone to
		for i := range 5000 {
			find(t, table, 1+at(i))
			free := table.plan("id").free
			if len(free) != 1 {
				t.Fatalf("%d searches at rest", len(free))
			}
			index, rows = index+free[0].visits, rows+table.cursor.visits
		}
		if near := name != "far apart"; near != (index < 5000) || near != (rows < 5000) {
			t.Errorf("%s: %d pages of the index, %d of the table", name, index, rows)
		}
	}
}

// counted counts what is read.
type counted struct {
	io.ReaderAt
	calls int
}

func (c *counted) ReadAt(p []byte, off int64) (int, error) {
	c.calls++
	return c.ReaderAt.ReadAt(p, off)
}

// The upper pages of a tree stay in a cache that is too small for the leaves.
func TestUpperPagesStay(t *testing.T) {
	table := rows5000(t)
	table.db.Shrink(28)
	src := &counted{ReaderAt: table.db.src}
	table.db.src = src
	for i := range 5000 {
		find(t, table, 1+i*3091%5000)
	}
	if src.calls > 2*5000+300 { // a leaf of the index and one of the table
		t.Errorf("%d pages are read", src.calls)
	}
}
