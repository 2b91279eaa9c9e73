package sqlite

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, statements ...string) (*DB, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.db")
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return Open(bytes.NewReader(raw), int64(len(raw)))
}

// What is not read is an error that names it, and the tables beside it are read all the same.
func TestNotRead(t *testing.T) {
	d, err := write(t, "create table keyed(a primary key) without rowid", "create table made(a, b as (a + 1))", "create virtual table search using fts5(a)",
		"create view seen as select 1", "create table plain(a)", "insert into plain values (7)")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"keyed": "table keyed: tables without rowid", "made": "table made: tables with generated columns", "search": "table search: virtual tables",
		"seen": "no such table: seen", "none": "no such table: none",
	} {
		if _, err := d.Table(name); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	table, err := d.Table("plain")
	if err != nil {
		t.Fatal(err)
	}
	for r := range table.Rows() {
		if r.Int("a") != 7 || r.Int("b") != 0 || r.Text("b", 9) != "" || r.Bytes("b", 9) != nil {
			t.Errorf("%d, %d", r.Int("a"), r.Int("b"))
		}
	}
	if d.Err() != nil {
		t.Error(d.Err())
	}
	if _, err := write(t, "pragma encoding = 'UTF-16le'", "create table t(a)"); err == nil || !strings.Contains(err.Error(), "only UTF-8") {
		t.Errorf("UTF-16: %v", err)
	}
}

// A question that cannot be answered fails for good, instead of being answered by no rows.
func TestQuestionsThatFail(t *testing.T) {
	for want, ask := range map[string]func(*Table) Selection{
		"no column b":      func(t *Table) Selection { return t.Equal("b", "x") },
		"no column c":      func(t *Table) Selection { return t.Equal("a", "x", "c") },
		"collation NOCASE": func(t *Table) Selection { return t.Range("loose", "a", "b") },
	} {
		d, err := write(t, "create table t(a, loose text collate NOCASE)", "insert into t values ('x', 'y')")
		if err != nil {
			t.Fatal(err)
		}
		table, err := d.Table("t")
		if err != nil {
			t.Fatal(err)
		}
		if r := ask(table).First(); r != nil {
			t.Errorf("%s: a row", want)
		}
		if d.Err() == nil || !strings.Contains(d.Err().Error(), want) {
			t.Errorf("%v, want %s", d.Err(), want)
		}
		if r := table.Equal("a", "x").First(); r != nil {
			t.Errorf("%s: a row afterwards", want)
		}
	}
}
