package sqlite_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // the driver, which writes what is read here
	"pgregory.net/rapid"

	"agentctl/discover/native/sqlite"
)

// world is a random database, written by SQLite itself and read by both.
type world struct {
	*rapid.T
	sql     *sql.DB
	path    string
	page    int
	columns []string
}

// Whatever SQLite writes is read as SQLite reads it: rows, values and their casts, by scan, by index and sorted.
func TestAgainstSQLite(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(r *rapid.T) {
		n++
		w := &world{T: r, path: filepath.Join(dir, fmt.Sprint(n, ".db")), page: 512 << rapid.IntRange(0, 7).Draw(r, "page size")}
		w.build()
		defer w.sql.Close()
		table := w.open()
		w.compareRows(table)
		for range 6 {
			w.compareSelection(table)
		}
		w.compareSearches(table)
		if err := os.Remove(w.path); err != nil {
			r.Fatal(err)
		}
	})
}

func (w *world) exec(query string, args ...any) {
	if _, err := w.sql.Exec(query, args...); err != nil {
		w.Fatalf("%s: %v", query, err)
	}
}

func (w *world) one(label string, of ...string) string { return rapid.SampledFrom(of).Draw(w.T, label) }

func (w *world) column() string { return w.one("column", w.columns...) }

// build makes a table, fills it, changes it, and gives it columns and indexes at different times.
func (w *world) build() {
	var err error
	if w.sql, err = sql.Open("sqlite", "file:"+w.path); err != nil {
		w.Fatal(err)
	}
	w.sql.SetMaxOpenConns(1)
	w.exec(fmt.Sprintf("pragma page_size=%d", w.page))
	w.exec("pragma auto_vacuum=" + w.one("auto_vacuum", "0", "1", "2"))
	w.exec("pragma synchronous=off")
	w.exec("pragma journal_mode=" + w.one("journal", "delete", "off"))
	w.exec("create table other(a text primary key, b)")
	w.exec(w.schema())
	w.index()
	w.fill(rapid.SampledFrom([]int{0, 1, 30, 100, 100, 300, 2000}).Draw(w.T, "rows"))
	w.index()
	for range rapid.IntRange(0, 2).Draw(w.T, "added") {
		w.add()
	}
	w.exec("delete from t where rowid % ? = 1", rapid.IntRange(2, 9).Draw(w.T, "deleted"))
	w.fill(rapid.IntRange(0, 20).Draw(w.T, "more rows"))
	w.exec("update or ignore t set c0 = ? where rowid % 7 = 3", w.value(rapid.Uint32().Draw(w.T, "updated")))
	w.index()
}

func (w *world) schema() string {
	var items []string
	key := w.one("key", "", "integer primary key", "INTEGER PRIMARY KEY AUTOINCREMENT", "integer primary key desc", "text primary key",
		"int primary key", "text unique not null on conflict replace", "integer unique primary key")
	if key != "" {
		items = append(items, "id "+key)
	}
	for i := range rapid.IntRange(1, 6).Draw(w.T, "columns") {
		name := fmt.Sprint("c", i)
		quote := w.one("quote", "%s", `"%s"`, "`%s`", "[%s]")
		constraint := w.one("constraint", "", "", "default 'x'", "/* , */ default (-3.5)", "references other(a) on delete set default", "check (1 > 0) -- no\n")
		items = append(items, fmt.Sprintf(quote+" %s %s", name, w.kind(), constraint))
		w.columns = append(w.columns, name)
	}
	if key == "" && w.one("table key", "", "x") != "" {
		items = append(items, w.one("constraints", "unique (c0)", "constraint u unique (c0 desc)", "constraint \"p\" primary key (c0, rowid_)"))
		if strings.Contains(items[len(items)-1], "rowid_") {
			items = slices.Insert(items, 0, "rowid_ integer default 0")
		}
	}
	if key != "" {
		w.columns = append(w.columns, "id")
	}
	return "create table t(" + strings.Join(items, ", ") + ")"
}

func (w *world) kind() string {
	return w.one("type", "", "text", "TEXT", "integer", "int", "real", "double precision", "blob", "numeric(10, 2)", "varchar(20)")
}

// add adds a column, which stored rows do not have.
func (w *world) add() {
	name := fmt.Sprint("added", len(w.columns))
	def := w.one("default", "", "null", "5", "-5", "+7", "2.5", "1e3", "-0x10", "'text'", "'12'", "' 1.5 '", "x'00ff'", "\"quoted\"", "true", "false", "(8)", "'it''s'")
	if def != "" {
		def = "default " + def
	}
	w.exec("alter table t add column " + name + " " + w.kind() + " " + def)
	w.columns = append(w.columns, name)
}

func (w *world) index() {
	for range rapid.IntRange(0, 2).Draw(w.T, "indexes") {
		columns := slices.Compact([]string{w.column(), w.column(), w.column()}[rapid.IntRange(0, 2).Draw(w.T, "fewer"):])
		columns[len(columns)-1] += w.one("order", "", "", "", " desc", " collate nocase", " asc", " collate binary")
		where := w.one("partial", "", "", "", " where "+w.column()+" is not null")
		w.exec("create index if not exists i" + fmt.Sprint(rapid.IntRange(0, 9).Draw(w.T, "index")) + " on t (" + strings.Join(columns, ", ") + ")" + where)
	}
}

func (w *world) fill(n int) {
	if n == 0 {
		return
	}
	seed := rapid.Uint32().Draw(w.T, "seed")
	tx, err := w.sql.Begin()
	if err != nil {
		w.Fatal(err)
	}
	marks := strings.TrimSuffix(strings.Repeat("?,", len(w.columns)), ",")
	query := "insert or ignore into t(" + strings.Join(w.columns, ",") + ") values (" + marks + ")"
	insert, err := tx.Prepare(query)
	if err != nil {
		w.Fatal(err)
	}
	for i := range n {
		args := make([]any, len(w.columns))
		for k := range args {
			args[k] = w.value(seed>>(uint(k)*3%29) + uint32(i*(k+1)*7919))
		}
		if _, err := insert.Exec(args...); err != nil && !strings.Contains(err.Error(), "mismatch") {
			w.Fatalf("%s %v: %v", query, args, err)
		}
	}
	if err := tx.Commit(); err != nil {
		w.Fatal(err)
	}
}

// value is one of all sorts of values; mostly a short text, and with some luck one that other rows have too.
func (w *world) value(n uint32) any {
	k := int64(n >> 4)
	switch n % 16 {
	case 0:
		return nil
	case 1:
		return k % 200
	case 2:
		return -k << (k % 33)
	case 3:
		return math.MinInt64 + k
	case 4:
		return float64(k) / 3
	case 5:
		return float64(k%100) * 1e15
	case 6:
		return bytes.Repeat([]byte{byte(k), 0xff}, int(k%7))
	case 7:
		if k%8 == 0 { // over several overflow pages
			return strings.Repeat(fmt.Sprint(k, " "), w.page*int(k%5)/4)
		}
		return fmt.Sprint("  ", k, ".5e2x")
	case 8:
		return fmt.Sprint(k % 50)
	case 9:
		return []string{"", "é€😀", "a\x00b", "\xff\xfe", "~", "-", "+.e5", "9223372036854775808", "0x10", "1_000"}[k%10]
	}
	return fmt.Sprintf("key_%04x%d", k%64, k%3)
}

func (w *world) open() *sqlite.Table {
	raw, err := os.ReadFile(w.path)
	if err != nil {
		w.Fatal(err)
	}
	db, err := sqlite.Open(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		w.Fatal(err)
	}
	if n := rapid.SampledFrom([]int{0, 1, 2, 7, 30}).Draw(w.T, "pages in the cache"); n > 0 {
		db.Shrink(n)
	}
	table, err := db.Table("T")
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() {
		if db.Err() != nil {
			w.Errorf("the database: %v", db.Err())
		}
	})
	return table
}

func (w *world) query(query string, args ...any) [][]any {
	rows, err := w.sql.Query(query, args...)
	if err != nil {
		w.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	names, _ := rows.Columns()
	var out [][]any
	for rows.Next() {
		row, into := make([]any, len(names)), make([]any, len(names))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			w.Fatal(err)
		}
		out = append(out, row)
	}
	return out
}

func (w *world) compareRows(table *sqlite.Table) {
	list := []string{"rowid"}
	for _, c := range w.columns {
		list = append(list, c, "typeof("+c+")", "coalesce(cast("+c+" as integer), 0)", "coalesce(cast("+c+" as real), 0.0)",
			"coalesce(cast("+c+" as text), '')", "substr(coalesce(cast("+c+" as text), ''), 1, 3)")
	}
	want := w.query("select " + strings.Join(list, ", ") + " from t order by rowid")
	n := 0
	for r := range table.Rows() {
		if n == len(want) {
			w.Fatalf("more than %d rows", n)
		}
		got := []any{r.RowID()}
		for _, c := range w.columns {
			text := r.Text(c, math.MaxInt32)
			got = append(got, r.Value(c), typeOf(r.Value(c)), r.Int(c), r.Real(c), text, text)
			if short := r.Text(strings.ToUpper(c), 3); !strings.HasPrefix(text, short) || len([]rune(short)) > 3 {
				w.Errorf("%q cut to %q", text, short)
			}
			if b := r.Bytes(c, 10); (b != nil) != (r.Value(c) != nil && len(text) <= 10) || b != nil && string(b) != text {
				w.Errorf("%q as bytes: %q", text, b)
			}
		}
		for i, g := range got {
			column := (i - 1) % 6
			if i > 0 && column == 5 {
				continue // SQLite counts the characters of malformed texts in its own way
			}
			if _, ok := want[n][max(i-4, 0)].(float64); ok && column == 4 {
				continue // so it does the digits of a real
			}
			if !same(g, want[n][i]) {
				w.Fatalf("row %v, %s: got %#v, want %#v", want[n][0], list[i], g, want[n][i])
			}
		}
		n++
	}
	if n != len(want) {
		w.Fatalf("%d rows, want %d", n, len(want))
	}
}

// same takes an empty blob for none: the driver gives nil for it.
func same(got, want any) bool {
	if b, ok := got.([]byte); ok && len(b) == 0 {
		c, ok := want.([]byte)
		return want == nil || ok && len(c) == 0
	}
	return reflect.DeepEqual(got, want)
}

func typeOf(v any) string {
	switch v.(type) {
	case int64:
		return "integer"
	case float64:
		return "real"
	case string:
		return "text"
	case []byte:
		return "blob"
	}
	return "null"
}

// compareSelection asks for a range or for one text, in an order.
func (w *world) compareSelection(table *sqlite.Table) {
	column := w.column()
	from, to := fmt.Sprint(w.value(rapid.Uint32().Draw(w.T, "from"))), "key_0020~"
	order := []string{column}
	var s sqlite.Selection
	where := "cast(" + column + " as blob) >= cast(? as blob) and cast(" + column + " as blob) < cast(? as blob)"
	if rapid.Bool().Draw(w.T, "equal") {
		to, order = from+"\x00", order[:0]
		for range rapid.IntRange(0, 2).Draw(w.T, "order") {
			order = append(order, w.column())
		}
		s = table.Equal(column, from, order...)
	} else {
		s = table.Range(column, from, to)
	}
	list := strings.Join(append(order, "rowid"), ", ")
	rows := w.query("select "+list+" from t where typeof("+column+") = 'text' and "+where+" order by "+list, from, to)
	w.compareOrder(s, order, rows)
}

// compareOrder takes rows that are alike in what they are sorted by for equal in order.
func (w *world) compareOrder(s sqlite.Selection, order []string, want [][]any) {
	read := func(back bool) (keys [][]any, ids []int64) {
		rows := s.Up()
		if back {
			rows = s.Down()
		}
		for r := range rows {
			var key []any
			for _, c := range order {
				key = append(key, r.Value(c))
			}
			keys, ids = append(keys, key), append(ids, r.RowID())
		}
		return keys, ids
	}
	for _, back := range []bool{false, true} {
		keys, ids := read(back)
		if back {
			slices.Reverse(keys)
		}
		var wantIDs []int64
		for i, row := range want {
			wantIDs = append(wantIDs, row[len(row)-1].(int64))
			for k := range order {
				if i < len(keys) && !same(keys[i][k], row[k]) {
					w.Fatalf("back %v, row %d of %d by %v: got %v, want %v", back, i, len(want), order, keys[i], row)
				}
			}
		}
		slices.Sort(ids)
		slices.Sort(wantIDs)
		if !slices.Equal(ids, wantIDs) {
			w.Fatalf("back %v: got rows %v, want %v", back, ids, wantIDs)
		}
	}
	if r := s.First(); (r == nil) != (len(want) == 0) {
		w.Errorf("first: %v", r)
	}
}
