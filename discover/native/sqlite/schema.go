package sqlite

import (
	"errors"
	"fmt"
	"strings"
)

// entry is a row of sqlite_schema (2.6).
type entry struct {
	kind, name, table string
	root              uint32
	sql               string // none for the indexes of PRIMARY KEY and UNIQUE
}

// maxSQL is the most characters of a CREATE statement that are read.
const maxSQL = 1 << 20

func (d *DB) readSchema() {
	columns := []column{{name: "type"}, {name: "name"}, {name: "tbl_name"}, {name: "rootpage"}, {name: "sql"}}
	t := d.table("sqlite_schema", 1, tableDef{columns: columns, rowidColumn: -1})
	for r := range t.Rows() {
		d.schema = append(d.schema, entry{
			kind: r.Text("type", 16), name: r.Text("name", maxKey), table: r.Text("tbl_name", maxKey),
			root: uint32(r.Int("rootpage")), sql: r.Text("sql", maxSQL),
		})
	}
}

// bind makes a table out of its entry and those of its indexes.
func (d *DB) bind(e entry) (*Table, error) {
	def, err := parseTable(e.sql)
	if err != nil {
		return nil, err
	}
	if e.root == 0 {
		return nil, errors.New("it has no pages of its own")
	}
	t := d.table(e.name, e.root, def)
	t.bindIndexes(def.keys)
	return t, nil
}

func (d *DB) table(name string, root uint32, def tableDef) *Table {
	following := make([]asked, len(def.columns))
	for i := range following {
		following[i] = asked{def.columns[0].name, 0, &following[0]}
	}
	return &Table{
		db: d, name: name, root: root, columns: def.columns, byName: names(def.columns), following: following, next: &following[0],
		rowidColumn: def.rowidColumn, cursor: cursor{db: d, root: root},
	}
}

// bindIndexes takes those that can be searched here. Those of PRIMARY KEY and UNIQUE are numbered in the order of the
// constraints; where their number is another one, that is not as it is understood here, and they are left out.
func (t *Table) bindIndexes(keys [][]string) {
	prefix := fmt.Sprintf("sqlite_autoindex_%s_", t.name)
	automatic := 0
	for _, e := range t.db.schema {
		if e.kind != "index" || !strings.EqualFold(e.table, t.name) {
			continue
		}
		if e.sql == "" {
			automatic++
		} else if columns, ok := parseIndex(e.sql); ok && t.plain(columns) {
			t.indexes = append(t.indexes, index{e.root, columns})
		}
	}
	if automatic != len(keys) {
		return
	}
	for _, e := range t.db.schema {
		for i, columns := range keys {
			if e.kind == "index" && strings.EqualFold(e.name, fmt.Sprint(prefix, i+1)) && t.plain(columns) {
				t.indexes = append(t.indexes, index{e.root, columns})
			}
		}
	}
}

// plain reports whether an index over these columns is sorted byte by byte.
func (t *Table) plain(columns []string) bool {
	for _, name := range columns {
		if i := t.columnIndex(name); i < 0 || t.columns[i].collation != "" {
			return false
		}
	}
	return len(columns) > 0
}

func names(columns []column) map[string]int {
	out := make(map[string]int, len(columns))
	for i, c := range columns {
		out[strings.ToLower(c.name)] = i
	}
	return out
}
