package sqlite

import (
	"bytes"
	"database/sql"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite" // the driver, which writes what is read here
)

// sample is a small database of every sort of page: tables and indexes of two levels, overflow, free pages.
func sample(t testing.TB) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sample.db")
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	for _, s := range []string{
		"pragma page_size=512", "pragma auto_vacuum=1", "create table t(id text primary key, a, n integer, r real)",
		"create index by_a on t(a, n)",
		"with recursive s(v) as (select 1 union all select v + 1 from s where v < 60) insert into t select printf('k%03d', v), 'a' || v % 3, v, v / 4.0 from s",
		"insert into t values ('long', 'a1', 9, 0.5), (hex(zeroblob(700)), hex(zeroblob(300)), 1, 1)",
		"update t set a = hex(zeroblob(1200)) where id = 'long'", "delete from t where n % 5 = 0", "alter table t add column late default 'x'",
	} {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// reads counts what is read, and fails where that is more than a limit.
type reads struct {
	*bytes.Reader
	t     testing.TB
	bytes int64
	limit int64
}

func (r *reads) ReadAt(p []byte, off int64) (int, error) {
	if r.bytes += int64(len(p)); r.bytes > r.limit {
		r.t.Fatalf("more than %d bytes are read", r.limit)
	}
	return r.Reader.ReadAt(p, off)
}

// readAll asks for all that can be asked for, and returns how many rows there were.
func readAll(t testing.TB, raw []byte) (rows int, err error) {
	t.Helper()
	// The cache holds all of it; what is expected to be next is read with the page before.
	src := &reads{bytes.NewReader(raw), t, 0, 2*int64(len(raw)) + usualPage}
	db, err := Open(src, int64(len(raw)))
	if err != nil {
		return 0, err
	}
	for _, name := range db.Tables() {
		table, err := db.Table(name)
		if err != nil {
			continue
		}
		for r := range table.Rows() {
			rows++
			for _, c := range table.columns {
				r.Int(c.name)
				r.Real(c.name)
				if n := len(r.Text(c.name, 10)); n > 40 {
					t.Fatalf("a text of %d bytes", n)
				}
				r.Bytes(c.name, 100_000)
			}
		}
		if name == "t" {
			for range table.Equal("id", "k007").Up() {
			}
			for range table.In("id", []string{"k050", "k008", "long", "k009"}) {
			}
			for range table.Range("a", "a", "b").Texts(10) {
			}
			for range table.Range("a", "a", "b").Down() {
			}
			for range table.Equal("a", "a1", "r").Up() {
			}
			for range table.Equal("a", "a1", "r").Before(int64(3)).Down() {
			}
		}
	}
	return rows, db.Err()
}

// Whatever byte is another one, reading ends, with fewer rows or an error.
func FuzzFlip(f *testing.F) {
	raw := sample(f)
	for _, at := range []uint32{16, 20, 28, 56, 100, 103, 105, 108, 112, 512 + 5, 2*512 + 3, 3 * 512, 3*512 + 8, 3*512 + 500, 5*512 + 1, 7*512 + 2} {
		f.Add(at, uint64(0xff))
		f.Add(at, uint64(0x0100010001000100))
	}
	f.Fuzz(func(t *testing.T, at uint32, flip uint64) {
		bad := bytes.Clone(raw)
		for i := range 8 {
			bad[(int(at)+i)%len(bad)] ^= byte(flip >> (8 * i))
		}
		_, _ = readAll(t, bad)
	})
}

// A file of any bytes behind a header ends too.
func FuzzPage(f *testing.F) {
	raw := sample(f)
	for n := range len(raw) / 512 {
		f.Add(uint8(n), raw[n*512:][:512])
	}
	f.Fuzz(func(t *testing.T, n uint8, page []byte) {
		bad := bytes.Clone(raw)
		copy(bad[int(n)%(len(bad)/512)*512:], page[:min(len(page), 512)])
		_, _ = readAll(t, bad)
	})
}

func FuzzRecord(f *testing.F) {
	f.Add([]byte{3, 1, 13, 5, 'a'})
	f.Add([]byte{2, 10, 1})
	f.Add([]byte{0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1})
	f.Add([]byte{9, 0, 1, 2, 3, 4, 5, 6, 7, 1, 1, 2, 1, 2, 3})
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := record{payload: payload{db: &DB{}, size: int64(len(raw)), local: raw}}
		ok := r.parse()
		if ok != (r.db.err == nil) {
			t.Fatalf("%v, %v", ok, r.db.err)
		}
		end := int64(0)
		for i := range r.cells {
			if !ok {
				break
			}
			v := r.at(i, math.MaxInt64)
			end = r.cells[i].off + int64(serialLength(r.cells[i].serial))
			if v.asInt(); v.size != int64(len(v.bytes)) || v.compare(v) != 0 {
				t.Errorf("%+v", v)
			}
		}
		if r.db.err != nil && ok || end > r.size {
			t.Errorf("%v; values end at %d of %d", r.db.err, end, r.size)
		}
	})
}

// What is looked at where an entry stands is what is found when it is taken apart.
func FuzzEntry(f *testing.F) {
	f.Add([]byte{6, 3, 17, 1, 'a', 'b', 7}, "ab")
	f.Add([]byte{9, 4, 15, 2, 3, 'a', 1, 0, 0xff, 0, 1}, "b")
	f.Add([]byte{4, 3, 13, 9, 0}, "")
	f.Add([]byte{0x83, 0, 4, 0x86, 0x75, 1, 'a'}, "aa")
	f.Fuzz(func(t *testing.T, entry []byte, bound string) {
		db := &DB{size: 1 << 20, usable: 512, wholeEntry: 102, cache: newCache(512)}
		page := append([]byte{indexLeaf, 0, 0, 0, 1, 0, 0, 0, 0, 10}, entry...)
		n := &node{db: db, number: 1, cells: 1, pointers: 8, leaf: true, held: &cached{number: 1, page: page}}
		s := &search{cursor: cursor{db: db}, entry: record{payload: payload{db: db}}, bound: []byte(bound), short: 102}
		before := s.precedes(n, 0)
		rowid, ok := s.rowid(n, 0)
		if !s.read(n, 0) {
			return
		}
		if want := s.entry.compare(0, s.bound) < 0; before != want {
			t.Errorf("before %q: %v, want %v", bound, before, want)
		}
		if !ok {
			return
		}
		if v := s.entry.at(len(s.entry.cells)-1, 0); v.n != rowid {
			t.Errorf("rowid %d, want %d", rowid, v.n)
		}
	})
}

func FuzzCreate(f *testing.F) {
	f.Add("CREATE TABLE `t` (`id` text PRIMARY KEY, n integer default -1, CONSTRAINT x FOREIGN KEY (`id`) REFERENCES s(`id`) ON DELETE CASCADE)")
	f.Add("CREATE UNIQUE INDEX i ON t (a COLLATE nocase DESC, b) WHERE a > 'x''y' -- z")
	f.Add("CREATE TABLE t(a DEFAULT (1 + (2)), [b c] /* x */ \"d\"\"e\", PRIMARY KEY (a) UNIQUE (d)) STRICT")
	f.Fuzz(func(t *testing.T, s string) {
		parseIndex(s)
		def, err := parseTable(s)
		if err == nil && (len(def.columns) == 0 || def.rowidColumn >= len(def.columns)) {
			t.Errorf("%+v", def)
		}
	})
}

// The sample is as good as it is meant to be, and a database cut off anywhere is read as less, or as an error.
func TestTruncated(t *testing.T) {
	raw := sample(t)
	whole, err := readAll(t, raw)
	if err != nil || whole != 50 {
		t.Fatalf("%d rows, %v", whole, err)
	}
	for cut := 1; cut < len(raw); cut += 101 {
		if n, err := readAll(t, raw[:cut]); err == nil && n >= whole {
			t.Errorf("cut at %d of %d: %d rows", cut, len(raw), n)
		}
	}
}

// Pages that lead back to where one came from, and chains that do, are noticed.
func TestCircles(t *testing.T) {
	raw := sample(t)
	const page = 512
	damaged := 0
	for n := 1; n < len(raw)/page; n++ {
		for to := 1; to <= len(raw)/page; to++ {
			bad := bytes.Clone(raw)
			at := n * page // a page of overflow begins with the next one; the last child of a tree's page stands at 8
			if kind := bad[at]; kind == tableInterior || kind == indexInterior {
				at += 8
			}
			copy(bad[at:], []byte{0, 0, 0, byte(to)})
			if _, err := readAll(t, bad); err != nil {
				damaged++
			}
		}
	}
	if damaged == 0 {
		t.Error("nothing was noticed")
	}
}

// Of a value of megabytes as much is read as is asked for.
func TestReadsNoMoreThanAsked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "big.db")
	db, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("create table t(a, big, b); insert into t values (1, hex(zeroblob(4000000)), 'end')"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	src := &reads{bytes.NewReader(raw), t, 0, 1 << 20}
	d, err := Open(src, int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	table, err := d.Table("t")
	if err != nil {
		t.Fatal(err)
	}
	for r := range table.Rows() {
		if s := r.Text("big", 100_000); len(s) != 100_000 {
			t.Errorf("%d characters", len(s))
		}
		if b := r.Bytes("big", 7_999_999); b != nil {
			t.Errorf("%d bytes", len(b))
		}
		src.limit = 10 << 20
		if got := fmt.Sprintf("%d %d %s", r.Int("a"), len(r.Bytes("big", 8_000_000)), r.Text("b", 9)); got != "1 8000000 end" {
			t.Error(got)
		}
	}
	if d.Err() != nil {
		t.Error(d.Err())
	}
}
