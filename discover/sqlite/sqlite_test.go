package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/ncruces/go-sqlite3/driver" // which writes what is read here

	"agentctl/discover/sqlite"
	"agentctl/tests/must"
)

// made makes a database with these statements and returns its bytes.
func made(t testing.TB, script ...string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "made.db")
	db, err := sql.Open("sqlite3", "file:"+path+"?_pragma=synchronous(off)")
	must.Do(t, err)
	for _, statement := range script {
		if _, err := db.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	must.Do(t, db.Close())
	raw, err := os.ReadFile(path)
	must.Do(t, err)
	return raw
}

// open opens the database in raw.
func open(t testing.TB, raw []byte) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), bytes.NewReader(raw), int64(len(raw)))
	must.Do(t, err)
	t.Cleanup(db.Close)
	return db
}

// column is one column of what a statement gives.
func column(t testing.TB, db *sqlite.DB, name, statement string, args ...any) (all []string) {
	t.Helper()
	for r := range db.Query(statement, args...) {
		all = append(all, r.Text(name, 100))
	}
	if _, damage := db.Damage(); damage != nil || db.Err() != nil {
		t.Errorf("%s: %v, %v", statement, db.Err(), damage)
	}
	return all
}

// What SQLite makes of a schema is what counts.
func TestSchemas(t *testing.T) {
	db := open(t, made(t,
		`create table four (id INTEGER(4) PRIMARY KEY, n)`, `insert into four values (70, 'a'), (3, 'b')`,
		`create table uniques (c, e, f, UNIQUE(c), UNIQUE(c DESC), UNIQUE(e), UNIQUE(f DESC))`, `insert into uniques values ('x', 'y', 'z')`,
		`create table letters ("Ä", "ä")`, `insert into letters values ('large', 'small')`,
		`create table strict (a ANY) STRICT`, `insert into strict values ('1')`, `alter table strict add column b ANY default '1'`,
		`create table keyed (k PRIMARY KEY, v) WITHOUT ROWID`, `insert into keyed values ('k', 'v')`,
		`create table made (a, b AS (a || '!'))`, `insert into made(a) values ('x')`,
	))
	for statement, want := range map[string]string{
		`SELECT id AS v FROM four WHERE id = 70`:                "70",
		`SELECT rowid AS v FROM four ORDER BY rowid LIMIT 1`:    "1", // the column is not the rowid
		`SELECT e AS v FROM uniques WHERE f = 'z'`:              "y",
		`SELECT "Ä" AS v FROM letters`:                          "large",
		`SELECT "ä" AS v FROM letters`:                          "small",
		`SELECT typeof(a) || ' ' || typeof(b) AS v FROM strict`: "text text",
		`SELECT v FROM keyed WHERE k = 'k'`:                     "v",
		`SELECT b AS v FROM made`:                               "x!",
	} {
		if got := column(t, db, "v", statement); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q, want %q", statement, got, want)
		}
	}
	r := db.Table("letters", "Ä", "ä", "none").Row(1)
	if r == nil || r.Text("Ä", 9) != "large" || r.Text("ä", 9) != "small" || r.Text("none", 9) != "" {
		t.Errorf("letters: %v", r)
	}
	for range db.Query(`SELECT none FROM letters`) {
		t.Error("a row without its column")
	}
	if db.Err() == nil || !strings.Contains(db.Err().Error(), "no such column: none") {
		t.Errorf("got %v", db.Err())
	}
}

// A text of any length is read as far as it is wanted, and again.
func TestLongValues(t *testing.T) {
	raw := made(t, `create table t (id text, data text, n integer)`,
		`insert into t values ('short', 'ä' || 'b', 7), ('none', null, null), ('long', 'ä' || replace(hex(zeroblob(4000000)), '00', 'x'), 1), ('empty', x'', 0)`)
	db := open(t, raw)
	table := db.Table("t", "id", "data", "n")
	const all = 2 + 4_000_000
	for rowid, want := range []struct {
		head  string
		whole int
	}{{"äb", 3}, {"", 0}, {"äxxxx", all}, {"", 0}} {
		r := table.Row(int64(rowid) + 1)
		for range 2 {
			if got := r.Text("data", 5); got != want.head {
				t.Errorf("%s: %q", r.Text("id", 9), got)
			}
			if got := len(r.Bytes("data", all)); got != want.whole {
				t.Errorf("%s: %d bytes", r.Text("id", 9), got)
			}
		}
	}
	if r := table.Row(3); r.Bytes("data", all-1) != nil || r.Int("n") != 1 {
		t.Error("a text that is too long was read")
	}
	if n, damage := db.Damage(); n != 0 || db.Err() != nil {
		t.Error(damage, db.Err())
	}
}

// A statement ends when the context does, also one that gives no rows.
func TestEndsWithContext(t *testing.T) {
	raw := made(t, `create table t (n)`, `with recursive s(v) as (select 1 union all select v + 1 from s where v < 9) insert into t select v from s`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	db, err := sqlite.Open(ctx, bytes.NewReader(raw), int64(len(raw)))
	must.Do(t, err)
	defer db.Close()
	rows := 0
	for range db.Query(`SELECT n FROM t`) {
		rows++
		cancel()
	}
	if rows != 1 || !errors.Is(db.Err(), context.Canceled) {
		t.Errorf("%d rows, %v", rows, db.Err())
	}
	if n, damage := db.Damage(); n > 0 {
		t.Errorf("the end is no damage: %v", damage)
	}
}

// What one statement takes is bounded, whatever a database holds: memory, instructions, rows.
func TestBounds(t *testing.T) {
	numbers := `WITH RECURSIVE s(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM s) `
	for name, statement := range map[string]string{
		"memory": numbers + `SELECT v FROM s WHERE v < 3000000 ORDER BY randomblob(900)`, "a value": `SELECT zeroblob(100000000)`,
		"instructions": numbers + `SELECT v FROM s WHERE v < 0`, "rows": numbers + `SELECT v FROM s`,
	} {
		t.Run(name, func(t *testing.T) {
			db := open(t, made(t, `create table t (n)`))
			for range db.Query(statement) {
				continue
			}
			if n, _ := db.Damage(); n != 1 || db.Err() != nil {
				t.Errorf("%d damages, %v", n, db.Err())
			}
			if got := column(t, open(t, made(t, `create table t (n)`)), "v", `SELECT 'still' AS v`); len(got) != 1 {
				t.Error("no other database can be read any more")
			}
		})
	}
}

// pages are those of a table of 400 rows, one row of each in an overflow page.
func pages(t testing.TB) []byte {
	t.Helper()
	return made(t, `pragma page_size=1024`, `create table t (id text primary key, data text)`,
		`with recursive s(v) as (select 1 union all select v + 1 from s where v < 400)
		 insert into t select printf('key_%04d', v), hex(zeroblob(case v % 50 when 0 then 9000 else 100 end)) from s`)
}

// Whichever page is damaged, rows on the others are read by their keys or by the table, and nothing ends but in time.
func TestAnyDamagedPage(t *testing.T) {
	whole := pages(t)
	const size = 1024
	for at := size; at < len(whole); at += size {
		raw := bytes.Clone(whole)
		for i := range raw[at : at+size] {
			raw[at+i] = 0xa5
		}
		db := open(t, raw)
		found := map[int64]bool{}
		for _, order := range []string{"rowid", "rowid DESC", "id", "id DESC"} {
			for r := range db.Query(`SELECT rowid FROM t ORDER BY ` + order) {
				found[r.Int("rowid")] = true
			}
		}
		if n, _ := db.Damage(); db.Err() != nil || len(found) < 400 && n == 0 {
			t.Errorf("page %d: %d rows, %d damages, %v", at/size+1, len(found), n, db.Err())
		}
		if len(found) < 390 {
			t.Errorf("page %d: %d rows", at/size+1, len(found))
		}
	}
}

// FuzzPages changes bytes of a database: whatever they are, reading ends, without a panic, and says so if rows are missing.
func FuzzPages(f *testing.F) {
	whole := pages(f)
	f.Add(uint32(20), []byte{0xff}, uint32(0))
	f.Add(uint32(1024+8), []byte{0, 0, 0, 2}, uint32(3))
	f.Add(uint32(5000), bytes.Repeat([]byte{1}, 300), uint32(2000))
	f.Fuzz(func(t *testing.T, at uint32, change []byte, cut uint32) {
		raw := bytes.Clone(whole)
		copy(raw[int(at)%len(raw):], change)
		raw = raw[:len(raw)-int(cut)%len(raw)]
		db, err := sqlite.Open(t.Context(), bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			return
		}
		defer db.Close()
		table := db.Table("t", "id", "data")
		for _, order := range []string{"rowid", "id DESC"} {
			for r := range db.Query(`SELECT rowid FROM t ORDER BY ` + order) {
				if row := table.Row(r.Int("rowid")); row != nil {
					_ = fmt.Sprint(row.Text("id", 10), len(row.Bytes("data", 1<<20)))
				}
			}
		}
	})
}
