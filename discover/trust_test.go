package discover

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"agentctl/discover/storage"
	"agentctl/proc"
	"agentctl/tests/must"
	"agentctl/tests/proctest"
)

// Whoever names a home decides how far it is trusted. Homes that another user or a process in other namespaces names
// are not opened.
func TestTrustOfAHome(t *testing.T) {
	process := func(pid, uid int, apart proc.Namespaces) proctest.Process {
		f := fakeProcess(pid, "now", 'S')
		f.UID, f.Unshared = uid, apart
		return f
	}
	unreadable := process(7, 1000, 0)
	unreadable.Err = proc.ErrGone
	table := proctest.NewTable(
		process(1, 1000, 0), process(2, 1001, 0), process(3, 0, 0),
		process(4, 1000, proc.MountNamespace), process(5, 1000, proc.UserNamespace), process(6, 1000, proc.PIDNamespace),
		unreadable, process(8, 1000, proc.NetworkNamespace),
	)
	by := func(pids ...int) (ids []proc.ID) {
		for _, pid := range pids {
			ids = append(ids, proc.ID{PID: pid, Birth: "now"})
		}
		return ids
	}
	for name, test := range map[string]struct {
		home   Home
		want   Trust
		seenIn int
	}{
		"nobody":                           {Home{}, TrustForeign, 0},
		"the environment":                  {Home{FromUser: true, NamedBy: by(2)}, TrustOurs, 0},
		"the user":                         {Home{Explicit: true, NamedBy: by(1)}, TrustOurs, 0},
		"our process":                      {Home{NamedBy: by(1)}, TrustSeen, 1},
		"a network of its own":             {Home{NamedBy: by(8)}, TrustSeen, 8},
		"another user":                     {Home{NamedBy: by(2)}, TrustForeign, 0},
		"root":                             {Home{NamedBy: by(3)}, TrustForeign, 0},
		"other mounts":                     {Home{NamedBy: by(4)}, TrustForeign, 0},
		"other users":                      {Home{NamedBy: by(5)}, TrustForeign, 0},
		"other pids":                       {Home{NamedBy: by(6)}, TrustForeign, 0},
		"a process that does not tell":     {Home{NamedBy: by(7)}, TrustForeign, 0},
		"a process that is gone":           {Home{NamedBy: by(99)}, TrustForeign, 0},
		"another user, and a process ours": {Home{NamedBy: by(2, 4, 1)}, TrustSeen, 1},
	} {
		scanner := newScanner(func() *proc.Table { return table })
		scanner.UID = 1000
		if got, pid := scanner.trust(test.home, table); got != test.want || pid != test.seenIn {
			t.Errorf("%s: %v, seen in %d; want %v, %d", name, got, pid, test.want, test.seenIn)
		}
	}
}

// What belongs to others is left out without a word; what is seen is shown, and says so.
func TestSessionsOfOtherUsers(t *testing.T) {
	own, seen, other, roots := fakeProcess(1, "now", 'S'), fakeProcess(2, "now", 'S'), fakeProcess(3, "now", 'S'), fakeProcess(4, "now", 'S')
	own.UID, seen.UID, other.UID, roots.UID = 1000, 1000, 1001, 0
	table := proctest.NewTable(own, seen, other, roots)
	claim := func(id, home string, pid int) Claim {
		c := exactClaim(id, pid)
		c.Home, c.Path = home, home+"/"+id
		return c
	}
	stored := func(id, home string) Record {
		r := record(Codex, id, 1)
		r.Home, r.Path = home, home+"/"+id
		return r
	}
	m := testAdapter{
		agent: Codex,
		homes: []Home{
			{Dir: "/ours", FromUser: true},
			{Dir: "/seen", NamedBy: []proc.ID{{PID: 2, Birth: "now"}}},
			{Dir: "/theirs", NamedBy: []proc.ID{{PID: 3, Birth: "now"}}},
		},
		claims: []Claim{
			claim("a", "/ours", 1), claim("b", "/seen", 2), claim("c", "/theirs", 3), claim("d", "/ours", 4), claim("e", "/seen", 4),
			{Agent: Codex, Process: proc.ID{PID: 3, Birth: "now"}, Strength: Exact, Kind: "process", Unreadable: "its files"},
		},
		records: []Record{stored("a", "/ours"), stored("b", "/seen"), stored("c", "/theirs"), stored("d", "/ours")},
	}
	scanner := newScanner(func() *proc.Table { return table }, m)
	scanner.UID = 1000
	r, err := scanner.List(t.Context(), SessionFilter{IncludeStopped: true})
	if got := idsAndStatuses(r.Sessions); err != nil || got != "a:idle b:idle d:idle" || len(r.Warnings) > 0 {
		t.Fatalf("%q, %v, %v", got, r.Warnings, err)
	}
	for _, s := range r.Sessions {
		if want := map[string]Trust{"a": TrustOurs, "b": TrustSeen, "d": TrustOurs}[s.ID]; s.Trust != want {
			t.Errorf("%s is %v, want %v", s.ID, s.Trust, want)
		}
		if pid := s.Meta[seenInKey]; (pid == 2) != (s.ID == "b") {
			t.Errorf("%s was seen in %v", s.ID, pid)
		}
		if err := s.CheckTrust("resume"); (err == nil) != (s.Trust == TrustOurs) {
			t.Errorf("%s: %v", s.ID, err)
		}
	}
	scanner.AllUsers = true
	r, err = scanner.List(t.Context(), SessionFilter{})
	if got := idsAndStatuses(r.Sessions); err != nil || got != "a:idle b:idle c:idle d:idle e:running" || len(r.Warnings) != 1 {
		t.Errorf("of all users: %q, %v, %v", got, r.Warnings, err)
	}
}

// Of another user's process, the process table tells whoever asks for it by its pid, and no more.
func TestAnotherUsersProcessByItsPID(t *testing.T) {
	other := fakeProcess(3, "now", 'S')
	other.UID = 1001
	presence := Claim{Agent: Codex, Process: proc.ID{PID: 3, Birth: "now"}, Home: "/theirs", Strength: Exact, Kind: "process"}
	claim := exactClaim("c", 3)
	m := testAdapter{agent: Codex, homes: []Home{{Dir: "/ours", FromUser: true}}, claims: []Claim{presence, claim}}
	scanner := newScanner(func() *proc.Table { return proctest.NewTable(other) }, m)
	scanner.UID = 1000
	r, err := scanner.Find(t.Context(), "pid:3", nil, ReadOptions{})
	if err != nil || idsAndStatuses(r.Sessions) != ":unknown" || r.Sessions[0].Home != "" || len(r.Warnings) != 1 {
		t.Errorf("%q, %v, %v", idsAndStatuses(r.Sessions), r.Warnings, err)
	}
	if r, err := scanner.List(t.Context(), SessionFilter{}); err != nil || len(r.Sessions)+len(r.Warnings) > 0 {
		t.Errorf("listed: %q, %v, %v", idsAndStatuses(r.Sessions), r.Warnings, err)
	}
}

func TestUnusableHomes(t *testing.T) {
	dir := t.TempDir()
	file, loop, broken := filepath.Join(dir, "file"), filepath.Join(dir, "loop"), filepath.Join(dir, "broken")
	for _, err := range []error{os.WriteFile(file, nil, 0o600), os.Symlink(loop, loop), os.Symlink("/nowhere/at/all", broken)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		home           Home
		usable, warned int
	}{
		{Home{Dir: dir, Explicit: true}, 1, 0},
		{Home{Dir: dir + "/missing"}, 1, 0},
		{Home{Dir: dir + "/missing", Explicit: true}, 1, 1},
		{Home{Dir: dir + "/missing", Explicit: true, FilesOnly: true}, 1, 0},
		{Home{Dir: file}, 0, 1},
		{Home{Dir: loop}, 0, 1},
		{Home{Dir: broken, Explicit: true}, 0, 1},
	} {
		usable, err := checkHomes(t.Context(), "x", []Home{test.home})
		if warned := warnings("x", err); len(usable) != test.usable || len(warned) != test.warned || len(warned) == 1 && warned[0].Path != test.home.Dir {
			t.Errorf("%+v: %v, %v", test.home, usable, err)
		}
	}
}

// In a home that only a process names no link leads out of it; in one of ours people keep parts of it on other disks.
func TestCheckPathRefusesLinksOutOfTheHome(t *testing.T) {
	dir := t.TempDir()
	home, linked, other := filepath.Join(dir, "home"), filepath.Join(dir, "linked"), filepath.Join(dir, "home-2")
	for _, path := range []string{home + "/sessions/a", home + "/db", other + "/sessions/b", other + "/db"} {
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)))
	}
	for link, to := range map[string]string{
		linked: home, home + "/within": "sessions", home + "/out": other + "/sessions", home + "/sessions/file": other + "/db",
		home + "/up": "../home-2", home + "/nowhere": "/no/such", other + "/link": home + "/db",
	} {
		must.Do(t, os.Symlink(to, link))
	}
	for path, want := range map[string]error{
		"/sessions/a": nil, "/within/a": nil, "": nil, "/none": nil, "/nowhere": nil,
		"/out/b": storage.ErrEscapes, "/sessions/file": storage.ErrEscapes, "/up/db": storage.ErrEscapes, "/../home-2/db": storage.ErrEscapes, "/out": storage.ErrEscapes,
	} {
		for _, root := range []string{home, linked} {
			for _, trust := range []Trust{TrustSeen, TrustForeign, TrustOurs} {
				h := Home{Dir: root, Trust: trust}
				expected := want
				if trust == TrustOurs {
					expected = nil
				}
				if err := h.CheckPath(root + path); !errors.Is(err, expected) {
					t.Errorf("%s%s, %v: %v, want %v", root, path, trust, err, expected)
				}
			}
		}
	}
	// A database that was named lies anywhere, but is no link.
	named := Home{Dir: home, Trust: TrustSeen, Files: []string{other + "/db", other + "/link"}}
	if err := errors.Join(named.CheckPath(other+"/db"), named.CheckPath(home+"/db")); err != nil {
		t.Error(err)
	}
	if err := named.CheckPath(other + "/link"); !errors.Is(err, storage.ErrEscapes) {
		t.Errorf("a linked database: %v", err)
	}

	if err := (Home{Dir: home, Trust: TrustSeen}).CheckPath(home+"/out/b", Home{Dir: other, Trust: TrustOurs}); err != nil {
		t.Errorf("a link into a home of ours: %v", err)
	}

	homes := []Home{{Dir: home, Trust: TrustSeen}, {Dir: other, Trust: TrustForeign}, {Dir: dir + "/ours", Trust: TrustOurs}}
	entries, err := dropOutside(homes, []Entry{
		{ID: "a", Home: home, Path: home + "/sessions/a"},
		{ID: "b", Home: home, Path: home + "/out/b"},
		{ID: "b2", Home: home, Path: home + "/out/b"},
		{ID: "c", Home: dir + "/ours", Path: other + "/link"},
	})
	if len(entries) != 2 || entries[0].ID != "a" || entries[1].ID != "c" {
		t.Errorf("%+v", entries)
	}
	if w, ok := errors.AsType[*Warning](err); !ok || w.Path != home+"/out/b" || !errors.Is(err, storage.ErrEscapes) {
		t.Errorf("%v", err)
	}
}
