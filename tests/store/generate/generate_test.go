package generate_test

import (
	"bufio"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"agentctl/tests/store/generate"
)

// small are stores quick to make: 60 sessions of the least size.
func small(seed uint64) generate.Options {
	o := generate.Defaults()
	o.Sessions, o.Seed, o.Min, o.Median, o.Max = 60, seed, 1000, 2000, 4000
	return o
}

func store(t *testing.T, o generate.Options) (dir string, list []generate.Session) {
	t.Helper()
	dir = t.TempDir()
	list, err := generate.Store(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return dir, list
}

// tree is the name, time and content of every file of a store.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		when := info.ModTime().UTC().String()
		if strings.HasSuffix(path, ".db") || strings.HasSuffix(path, "session_index.jsonl") {
			when = "" // when the store was made
		}
		out[rel] = fmt.Sprintf("%s %x", when, sha256.Sum256(raw))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestSameSeedSameBytes(t *testing.T) {
	a, _ := store(t, small(1))
	b, _ := store(t, small(1))
	c, _ := store(t, small(2))
	ta, tb, tc := tree(t, a), tree(t, b), tree(t, c)
	if len(ta) != len(tb) {
		t.Fatalf("%d files and %d", len(ta), len(tb))
	}
	for path, want := range ta {
		if tb[path] != want {
			t.Errorf("%s differs: %q, %q", path, want, tb[path])
		}
	}
	same := 0
	for path := range ta {
		if _, ok := tc[path]; ok {
			same++
		}
	}
	if same > 3 { // the database, the index of names, the coordination of locks
		t.Errorf("another seed made %d files of the same name", same)
	}
}

func TestSharesAndSizes(t *testing.T) {
	o := generate.Defaults()
	o.Sessions = 200
	_, list := store(t, o)
	count := map[string]int{}
	var total int
	for _, s := range list {
		count[s.Agent]++
		total += s.Bytes
		if s.Bytes < o.Min || s.Bytes > o.Max*11/10 {
			t.Errorf("%s %s: %d bytes", s.Agent, s.ID, s.Bytes)
		}
		if !s.Updated.Before(o.End) {
			t.Errorf("%s %s ends at %s", s.Agent, s.ID, s.Updated)
		}
	}
	if count["claude-code"] != 100 || count["codex"] != 60 || count["opencode"] != 40 {
		t.Errorf("shares %v", count)
	}
	if mean := total / len(list); mean < o.Median || mean > o.Median*16/10 {
		t.Errorf("%d bytes a session on average", mean)
	}
}

func TestEveryLineIsJSONAndNamesItsSession(t *testing.T) {
	_, list := store(t, small(1))
	for _, s := range list {
		if s.Agent == "opencode" {
			continue
		}
		f, err := os.Open(s.Path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var lines int
		var text strings.Builder
		scan := bufio.NewScanner(f)
		scan.Buffer(nil, 1<<20)
		for ; scan.Scan(); lines++ {
			if !json.Valid(scan.Bytes()) {
				t.Fatalf("%s:%d is no JSON: %.200s", s.Path, lines+1, scan.Text())
			}
			text.Write(scan.Bytes())
		}
		if err := scan.Err(); err != nil || lines < 5 {
			t.Fatalf("%s: %d lines, %v", s.Path, lines, err)
		}
		for _, want := range []string{s.ID, `"cwd":"` + s.Dir + `"`} {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%s nowhere says %s", s.Path, want)
			}
		}
		if info, err := f.Stat(); err != nil || !info.ModTime().Equal(s.Updated) {
			t.Errorf("%s: last changed %v, newest record %s (%v)", s.Path, info.ModTime(), s.Updated, err)
		}
	}
}

func TestNames(t *testing.T) {
	dir, list := store(t, small(1))
	claude, codex, _ := generate.Homes(dir)
	for _, s := range list {
		var want string
		switch s.Agent {
		case "claude-code":
			want = regexp.QuoteMeta(claude) + `/projects/-home-dev-src-project-\d{4}/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\.jsonl`
		case "codex":
			want = regexp.QuoteMeta(codex) + `/(sessions/\d{4}/\d\d/\d\d|archived_sessions)/rollout-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\.jsonl`
		default:
			if !regexp.MustCompile(`^ses_[0-9a-f]{12}[0-9A-Za-z]{14}$`).MatchString(s.ID) {
				t.Errorf("OpenCode id %s", s.ID)
			}
			continue
		}
		if !regexp.MustCompile("^" + want + "$").MatchString(s.Path) {
			t.Errorf("path %s", s.Path)
		}
	}
}

func TestDatabaseIsSoundAndAtRest(t *testing.T) {
	dir, list := store(t, small(1))
	_, _, home := generate.Homes(dir)
	names, err := filepath.Glob(home + "/*")
	if err != nil || len(names) != 1 {
		t.Fatalf("%q, %v: want the database alone", names, err)
	}
	raw, err := os.ReadFile(names[0])
	if err != nil || raw[18] != 2 || raw[19] != 2 {
		t.Fatalf("not in WAL mode: %v", err)
	}
	db, err := sql.Open("sqlite3", "file:"+names[0]+"?mode=ro&immutable=1")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	one := func(query string) (s string) {
		if err := db.QueryRow(query).Scan(&s); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		return s
	}
	want := 0
	for _, s := range list {
		if s.Agent == "opencode" {
			want++
		}
	}
	for query, want := range map[string]string{
		"PRAGMA integrity_check":                                                                            "ok",
		"SELECT count(*) FROM session WHERE parent_id IS NULL":                                              fmt.Sprint(want),
		"SELECT count(*) FROM message WHERE NOT json_valid(data)":                                           "0",
		"SELECT count(*) FROM part WHERE NOT json_valid(data)":                                              "0",
		"SELECT count(*) FROM part WHERE message_id NOT IN (SELECT id FROM message)":                        "0",
		"SELECT count(*) FROM message WHERE session_id NOT IN (SELECT id FROM session)":                     "0",
		"SELECT count(*) FROM session WHERE project_id NOT IN (SELECT id FROM project)":                     "0",
		"SELECT count(*) FROM session s WHERE NOT EXISTS (SELECT 1 FROM message m WHERE m.session_id=s.id)": "0",
	} {
		if got := one(query); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

func TestStoreIsNotMadeOverAnother(t *testing.T) {
	dir, _ := store(t, small(1))
	if _, err := generate.Store(dir, small(1)); err == nil {
		t.Error("no error")
	}
}

func TestCachedStoreIsMadeOnce(t *testing.T) {
	dir := t.TempDir()
	path, made, err := generate.Cached(dir, small(1))
	if err != nil {
		t.Fatal(err)
	}
	before := tree(t, path)
	again, found, err := generate.Cached(dir, small(1))
	if err != nil || again != path || len(found) != len(made) || found[0].ID != made[0].ID || found[0].Path != made[0].Path {
		t.Errorf("%s with %d sessions (%v), want %s with %d", again, len(found), err, path, len(made))
	}
	if !strings.HasPrefix(made[0].Path, path) {
		t.Errorf("%s is not below %s", made[0].Path, path)
	}
	for name, want := range tree(t, path) {
		if before[name] != want {
			t.Errorf("%s has changed", name)
		}
	}
	other, _, err := generate.Cached(dir, small(2))
	if err != nil || other == path {
		t.Errorf("another seed: %s (%v)", other, err)
	}
}

func TestOnlyOneAgent(t *testing.T) {
	for _, agent := range []string{"claude-code", "codex", "opencode"} {
		o := small(1)
		o.Only = agent
		_, list := store(t, o)
		for _, s := range list {
			if s.Agent != agent || s.ID == "" {
				t.Errorf("only %s: %+v", agent, s)
			}
		}
	}
	if _, err := generate.Store(t.TempDir(), generate.Options{Only: "claude"}); err == nil {
		t.Error("an agent that is not there is taken")
	}
}
