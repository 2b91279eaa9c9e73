package sqlite_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"agentctl/discover/native/sqlite"
)

// A walk goes on just where SQLite says that another one ended, whatever indexes there are.
func TestBefore(t *testing.T) {
	dir := t.TempDir()
	n := 0
	rapid.Check(t, func(r *rapid.T) {
		n++
		path := filepath.Join(dir, fmt.Sprint(n, ".db"))
		db, err := sql.Open("sqlite", "file:"+path)
		if err != nil {
			r.Fatal(err)
		}
		defer db.Close()
		db.SetMaxOpenConns(1)
		exec := func(query string, args ...any) {
			if _, err := db.Exec(query, args...); err != nil {
				r.Fatal(err)
			}
		}
		exec("pragma synchronous=off")
		exec("create table t(a text, b integer, c text)")
		for _, columns := range rapid.SampledFrom([][]string{nil, {"a"}, {"a, c"}, {"a, b"}, {"a, b, c"}, {"a, c", "a, b, c"}}).Draw(r, "indexes") {
			exec("create index [" + columns + "] on t(" + columns + ")")
		}
		number, name := rapid.Int64Range(-3, 12), rapid.StringMatching("[k-m]{0,2}")
		for range rapid.IntRange(0, 60).Draw(r, "rows") {
			exec("insert into t values (?, ?, ?)", rapid.SampledFrom([]string{"x", "y", ""}).Draw(r, "a"), number.Draw(r, "b"), name.Draw(r, "c"))
		}
		b, c := number.Draw(r, "last b"), name.Draw(r, "last c")
		raw, err := os.ReadFile(path)
		if err != nil {
			r.Fatal(err)
		}
		read, err := sqlite.Open(bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			r.Fatal(err)
		}
		table, err := read.Table("t")
		if err != nil {
			r.Fatal(err)
		}
		all := table.Equal("a", "x", "b", "c")
		for what, s := range map[string]sqlite.Selection{"b < ?1 or ?2 is null": all.Before(b), "(b, c) < (?1, ?2)": all.Before(b, c)} {
			rows, err := db.Query("select b, c from t where a = 'x' and ("+what+") order by b desc, c desc", b, c)
			if err != nil {
				r.Fatal(err)
			}
			var want, down, up []string
			for rows.Next() {
				var b int64
				var c string
				if err := rows.Scan(&b, &c); err != nil {
					r.Fatal(err)
				}
				want = append(want, fmt.Sprint(b, c))
			}
			_ = rows.Close()
			for row := range s.Down() {
				down = append(down, fmt.Sprint(row.Int("b"), row.Text("c", 9)))
			}
			for row := range s.Up() {
				up = append(up, fmt.Sprint(row.Int("b"), row.Text("c", 9)))
			}
			if slices.Reverse(up); read.Err() != nil || !slices.Equal(down, want) || !slices.Equal(up, want) {
				r.Fatalf("%s of %d, %q: down %q, up %q, want %q, %v", what, b, c, down, up, want, read.Err())
			}
		}
	})
}
