package sqlite_test

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"agentctl/discover/native/sqlite"
)

// compareSearches asks one question again and again, of texts near each other and far away, so that a search begins where
// another one has ended; now and then inside of one.
func (w *world) compareSearches(table *sqlite.Table) {
	column := w.column()
	texts := w.texts(column)
	found := map[string][]int64{}
	for _, text := range texts {
		var want []int64
		for _, row := range w.query("select rowid from t where typeof("+column+") = 'text' and cast("+column+" as blob) = cast(? as blob) order by rowid", text) {
			want = append(want, row[0].(int64))
		}
		found[text] = want
	}
	for i, text := range texts {
		inside := texts[(i*7+3)%len(texts)]
		s := table.Equal(column, text)
		var up, down []int64
		for r := range s.Up() {
			up = append(up, r.RowID())
			if len(up)%3 == 1 {
				w.compareMost(table.Equal(column, inside), len(found[inside]))
			}
		}
		for r := range s.Down() {
			down = append(down, r.RowID())
		}
		slices.Sort(up)
		slices.Sort(down)
		if !slices.Equal(up, found[text]) || !slices.Equal(down, found[text]) {
			w.Fatalf("%s = %q: up %v, down %v, want %v", column, text, up, down, found[text])
		}
	}
	w.compareIn(table, column, texts, found)
	w.compareTexts(table, column)
}

// texts are some that a column has, and some that it mostly has not.
func (w *world) texts(column string) []string {
	out := []string{fmt.Sprint(w.value(rapid.Uint32().Draw(w.T, "text"))), "key_0010", ""}
	for _, row := range w.query("select cast(" + column + " as text) from t where typeof(" + column + ") = 'text' order by abs(rowid % 17), rowid limit 9") {
		text, _ := row[0].(string)
		out = append(out, text, text+"0")
	}
	return rapid.Permutation(out).Draw(w.T, "texts")
}

func (w *world) compareMost(s sqlite.Selection, all int) {
	for most := range 3 {
		want := all
		if most > 0 {
			want = min(all, most)
		}
		n := 0
		for range s.Most(most).Down() {
			n++
		}
		if n != want {
			w.Fatalf("%d rows of %d, at most %d", n, all, most)
		}
	}
}

// compareIn expects one row for each text that has any, by rowid.
func (w *world) compareIn(table *sqlite.Table, column string, texts []string, found map[string][]int64) {
	want := 0
	for _, ids := range found {
		want += min(len(ids), 1)
	}
	var ids []int64
	for r := range table.In(column, texts) {
		if !slices.Contains(found[r.Text(column, 1<<20)], r.RowID()) {
			w.Errorf("row %d has %q", r.RowID(), r.Text(column, 1<<20))
		}
		ids = append(ids, r.RowID())
	}
	if len(ids) != want || !slices.IsSorted(ids) || len(slices.Compact(ids)) != want {
		w.Errorf("rows %v, want %d", ids, want)
	}
}

func (w *world) compareTexts(table *sqlite.Table, column string) {
	var want []string
	for _, row := range w.query("select distinct " + column + " from t where typeof(" + column + ") = 'text' and " + column + " >= 'a' and " + column + " < 'key_0020' order by 1") {
		want = append(want, row[0].(string))
	}
	if got := slices.Collect(table.Range(column, "a", "key_0020").Texts(1 << 20)); !slices.Equal(got, want) {
		w.Errorf("texts %q, want %q", got, want)
	}
}
