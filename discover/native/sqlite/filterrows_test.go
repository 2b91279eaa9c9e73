package sqlite

import (
	"bytes"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const needle = "needle"

// randomValue returns a text in which the needle is at random places, or nowhere. Long ones take many pages.
func randomValue(r *rand.Rand) string {
	n := int(r.ExpFloat64() * []float64{20, 600, 5000, 40_000}[r.IntN(4)])
	text := []byte(strings.Repeat("need", n/4+1)[:n])
	for range r.IntN(3) {
		if n >= len(needle) {
			copy(text[r.IntN(n-len(needle)+1):], needle)
		}
	}
	return string(text)
}

// change makes a random change of a table.
func change(t *testing.T, r *rand.Rand, db interface {
	Exec(query string, args ...any) (sql.Result, error)
},
) {
	t.Helper()
	var err error
	switch r.IntN(8) {
	case 0:
		_, err = db.Exec("delete from t where rowid % 5 = ?", r.IntN(5))
	case 1:
		_, err = db.Exec("update t set data = ? where rowid = ?", randomValue(r), r.IntN(100))
	case 2:
		_, err = db.Exec("insert into other values(?)", randomValue(r))
	case 3: // a rowid of many bytes
		_, err = db.Exec("insert or replace into t(rowid, id, n, data) values(?, ?, ?, ?)", r.Int64()-r.Int64(), fmt.Sprint(r.Uint64()), r.Float64(), randomValue(r))
	default:
		_, err = db.Exec("insert into t values(?, ?, ?)", fmt.Sprint(r.Uint64()), r.Int64()>>r.IntN(64), randomValue(r))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestFilterRows: of random tables, with committed and uncommitted changes in the log, exactly the rows are found that SQL finds.
func TestFilterRows(t *testing.T) {
	found, passed := 0, 0
	for seed := range uint64(24) {
		r := rand.New(rand.NewPCG(seed, 3))
		path := filepath.Join(t.TempDir(), "db")
		db, err := sql.Open("sqlite3", fmt.Sprintf("file:%s?_pragma=page_size(%d)&_pragma=auto_vacuum(%d)&_pragma=journal_mode(wal)&_pragma=wal_autocheckpoint(%d)",
			path, 512<<r.IntN(8), r.IntN(3), r.IntN(40)))
		if err != nil {
			t.Fatal(err)
		}
		db.SetMaxOpenConns(1)
		for _, s := range []string{"create table other(data text)", "create table t(id text primary key, n, data text)", "create index i on t(n)"} {
			if _, err := db.Exec(s); err != nil {
				t.Fatal(err)
			}
		}
		for range r.IntN(120) {
			change(t, r, db)
		}
		var want []int64
		rows, err := db.Query("select rowid from t where instr(data, ?) order by rowid", needle)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var id int64
			if err := rows.Scan(&id); err != nil {
				t.Fatal(err)
			}
			want = append(want, id)
		}
		tx, err := db.Begin() // never committed
		if err != nil {
			t.Fatal(err)
		}
		for range r.IntN(30) {
			change(t, r, tx)
		}
		got := filterRows(t, path)
		if err := tx.Rollback(); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: %v, want %v", seed, got, want)
		}
		found += len(want)
		if len(want) == 0 {
			passed++
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if got := filterRows(t, path); !slices.Equal(got, want) {
			t.Fatalf("seed %d, at rest: %v, want %v", seed, got, want)
		}
	}
	if found < 150 || passed == 24 {
		t.Errorf("%d rows found, %d tables without", found, passed)
	}
}

// filterRows returns the rows with the needle.
func filterRows(t *testing.T, path string) (rowids []int64) {
	t.Helper()
	err := Read(t.Context(), path, func(db *DB) (err error) {
		rowids, err = db.FilterRows("t", func(record []byte) bool { return bytes.Contains(record, []byte(needle)) })
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(rowids)
	return rowids
}

// TestFilterRowsUnseen: a row with a null and one that is too long are returned although nothing matches; of too many rows none is.
func TestFilterRowsUnseen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	db, err := sql.Open("sqlite3", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range []string{"create table t(id, data)", "create table without(id primary key) without rowid", "create table empty(id)", "insert into t values('a', null), ('b', zeroblob(1048577)), ('c', 'x')"} {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	if got := filterRows(t, path); !slices.Equal(got, []int64{1, 2}) {
		t.Errorf("got %v, want rows 1 and 2", got)
	}
	if _, err := db.Exec("with recursive c(x) as (select 1 union all select x + 1 from c where x < ?) insert into t select x, 'needle' from c", maxFiltered); err != nil {
		t.Fatal(err)
	}
	for table, fails := range map[string]bool{"t": true, "without": true, "none": true, "empty": false} {
		err := Read(t.Context(), path, func(db *DB) error {
			rows, err := db.FilterRows(table, func(record []byte) bool { return bytes.Contains(record, []byte(needle)) })
			if n, _ := db.Damage(); n > 0 || len(rows) > maxFiltered {
				t.Errorf("%s: %d rows, damage %d", table, len(rows), n)
			}
			return err
		})
		if (err != nil) != fails {
			t.Errorf("%s: %v", table, err)
		}
	}
}

// TestFilterRowsDamage: whatever is damaged, FilterRows ends, with an error or with rows. It fails where SQLite cannot read the rows.
func TestFilterRowsDamage(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	path := filepath.Join(t.TempDir(), "db")
	db, err := sql.Open("sqlite3", "file:"+path+"?_pragma=page_size(512)")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"create table t(id text primary key, n, data text)", "create table other(data text)"} {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(err)
		}
	}
	for range 40 {
		change(t, r, db)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refused, missed := 0, 0
	for range 200 {
		damaged := bytes.Clone(whole)
		page := damaged[512*(1+r.IntN(len(damaged)/512-1)):][:512]
		switch r.IntN(4) {
		case 0:
			clear(page)
		case 1: // another page
			copy(page, damaged[512*r.IntN(len(damaged)/512):])
		default: // in the header, the first pointers, or anywhere
			page[r.IntN([]int{5, 30, 512}[r.IntN(3)])] = byte(r.Uint32())
		}
		put(t, path, damaged)
		err := Read(t.Context(), path, func(db *DB) error {
			rows, err := db.FilterRows("t", func(record []byte) bool { return bytes.Contains(record, []byte(needle)) })
			if err != nil {
				refused++
				return nil
			}
			for row := range db.Query("select rowid, data from t not indexed") {
				if strings.Contains(row.Text("data", 1e6), needle) && !slices.Contains(rows, row.Int("rowid")) {
					t.Fatalf("row %d is missing", row.Int("rowid"))
				}
			}
			if n, _ := db.Damage(); n > 0 {
				missed++
			}
			return nil
		})
		if err != nil && !strings.Contains(err.Error(), "malformed") {
			t.Fatal(err)
		}
	}
	if refused < 40 || missed > refused/20 {
		t.Errorf("%d databases were refused, %d with damage that SQLite finds were not", refused, missed)
	}
}
