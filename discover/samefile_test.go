package discover

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"agentctl/proc"
	"agentctl/tests/must"
	"agentctl/tests/proctest"
)

// storeFiles makes files below a directory, each with the same session in it, and returns their records.
func storeFiles(t *testing.T, homes []string, id string) (records []Record) {
	t.Helper()
	for i, home := range homes {
		path := filepath.Join(home, "sessions", id)
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(home), 0o600)))
		r := record(Codex, id, 10+i)
		r.Path, r.Home, r.Created = path, home, at(1)
		records = append(records, r)
	}
	return records
}

func homesOf(dirs ...string) (homes []Home) {
	for _, dir := range dirs {
		homes = append(homes, Home{Dir: dir, FromUser: true})
	}
	return homes
}

// A transcript with two names is one session, under the home that was named first, whatever home its process uses.
func TestOneFileIsOneSession(t *testing.T) {
	dir := t.TempDir()
	ours, work := filepath.Join(dir, "ours"), filepath.Join(dir, "work")
	for name, join := range map[string]func() error{
		"linked folder": func() error {
			return errors.Join(os.MkdirAll(work, 0o700), os.Symlink(filepath.Join(ours, "sessions"), filepath.Join(work, "sessions")))
		},
		"hard link": func() error {
			return errors.Join(os.MkdirAll(filepath.Join(work, "sessions"), 0o700),
				os.Link(filepath.Join(ours, "sessions/a"), filepath.Join(work, "sessions/a")))
		},
	} {
		first := storeFiles(t, []string{ours}, "a")[0]
		must.Do(t, join())
		second := first
		second.Home, second.Path = work, filepath.Join(work, "sessions/a")
		claim := exactClaim("a", 7)
		claim.Home, claim.Path = work, second.Path
		table := func() *proc.Table { return proctest.NewTable(fakeProcess(7, "now", 'S')) }
		for _, live := range []bool{false, true} {
			m := testAdapter{agent: Codex, homes: homesOf(ours, work), records: []Record{first, second}}
			if live {
				m.claims = []Claim{claim}
			}
			scanner := newScanner(table, m)
			for _, arg := range []string{"", "a", "a@" + ours, "a@" + work, "a@" + first.Path} {
				r, err := scanner.Find(t.Context(), arg, nil, ReadOptions{})
				if arg == "" {
					r, err = scanner.List(t.Context(), SessionFilter{IncludeStopped: !live})
				}
				if err != nil || len(r.Sessions) != 1 || r.Sessions[0].Home != ours || r.Sessions[0].Path != first.Path || r.Sessions[0].Status.Live() != live {
					t.Errorf("%s, live %v, %q: %+v, %v", name, live, arg, r.Sessions, err)
				}
			}
			usage := scanner.newScan(nil)
			if found := usage.listEntries(t.Context(), usage.homes, func(Agent) EntryFilter { return EntryFilter{} }); len(slices.Concat(found...)) != 1 {
				t.Errorf("%s: entries %+v, want one", name, found)
			}
		}
		must.Do(t, os.RemoveAll(work))
	}
}

// Of two files with the same session, such as a backup beside a database, the newer one is the session, unless a process runs the other.
func TestCopiesOfASession(t *testing.T) {
	dir := t.TempDir()
	old, newer := filepath.Join(dir, "old"), filepath.Join(dir, "newer")
	records := storeFiles(t, []string{old, newer}, "a")
	claim := exactClaim("a", 7)
	claim.Path, claim.Home = records[0].Path, old
	table := func() *proc.Table { return proctest.NewTable(fakeProcess(7, "now", 'S')) }
	for _, live := range []bool{false, true} {
		m := testAdapter{agent: Codex, homes: homesOf(old, newer), records: slices.Clone(records)}
		want, other := records[1].Path, records[0].Path
		if live {
			m.claims, want, other = []Claim{claim}, other, want
		}
		scanner := newScanner(table, m)
		r, err := scanner.List(t.Context(), SessionFilter{IncludeStopped: true})
		if err != nil || len(r.Sessions) != 1 || r.Sessions[0].Path != want || !reflect.DeepEqual(r.Sessions[0].Meta["copies"], []string{other}) {
			t.Errorf("live %v: %+v, %v; want %s", live, r.Sessions, err, want)
		}
		for arg, path := range map[string]string{"a": want, "a@" + old: records[0].Path, "a@" + records[1].Path: records[1].Path} {
			if r, err := scanner.Find(t.Context(), arg, nil, ReadOptions{}); err != nil || len(r.Sessions) != 1 || r.Sessions[0].Path != path {
				t.Errorf("live %v, %s: %+v, %v; want %s", live, arg, r.Sessions, err, path)
			}
		}
	}
	scan := newScanner(table, testAdapter{agent: Codex, homes: homesOf(old, newer), records: records}).newScan(nil)
	found, older := scan.listSince(t.Context(), at(0), true)
	if all := slices.Concat(found...); len(all) != 1 || all[0].Path != records[1].Path || older != 0 {
		t.Errorf("for usage: %+v", all)
	}
	// One ID that a user has given to two sessions: they began at different times.
	records[1].Created = at(2)
	r, err := newScanner(table, testAdapter{agent: Codex, homes: homesOf(old, newer), records: records}).List(t.Context(), SessionFilter{IncludeStopped: true})
	if err != nil || len(r.Sessions) != 2 {
		t.Errorf("two sessions with one ID: %+v, %v", r.Sessions, err)
	}
}

// Of copies in one home, ID@HOME means the session, and of equal ones that is the one with the shorter path.
func TestEqualCopiesInOneHome(t *testing.T) {
	dir := t.TempDir()
	records := storeFiles(t, []string{filepath.Join(dir, "home", "backup-of-it"), filepath.Join(dir, "home", "it"), filepath.Join(dir, "other")}, "a")
	homes := homesOf(filepath.Join(dir, "home"), filepath.Join(dir, "other"))
	for i := range records {
		records[i].Updated, records[i].Home = at(5), homes[0].Dir
	}
	records[2].Updated, records[2].Home = at(6), homes[1].Dir
	scanner := newScanner(proc.EmptyTable, testAdapter{agent: Codex, homes: homes, records: records})
	for arg, want := range map[string]string{
		"a": records[2].Path, "a@" + homes[0].Dir: records[1].Path, "a@" + records[0].Path: records[0].Path, "a@" + homes[1].Dir: records[2].Path,
	} {
		if r, err := scanner.Find(t.Context(), arg, nil, ReadOptions{}); err != nil || len(r.Sessions) != 1 || r.Sessions[0].Path != want {
			t.Errorf("%s: %+v, %v; want %s", arg, r.Sessions, err, want)
		}
	}
	r, err := scanner.List(t.Context(), SessionFilter{IncludeStopped: true, Limit: 1})
	if copies, _ := r.Sessions[0].Meta[copiesKey].([]string); err != nil || r.Sessions[0].Path != records[2].Path || len(copies) != 2 {
		t.Errorf("the newest only: %+v, %v", r.Sessions, err)
	}
}
