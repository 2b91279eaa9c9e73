package opencode

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"agentctl/discover"
	"agentctl/proc"
	"agentctl/tests/must"
	"agentctl/tests/proctest"
)

func TestHomes(t *testing.T) {
	base := t.TempDir()
	data := mkdir(t, filepath.Join(base, "data", "opencode"))
	writeFile(t, filepath.Join(data, "opencode.db"), nil)
	link := filepath.Join(base, "link")
	must.Do(t, os.Symlink(data, link))
	start := at(t, "12:00:00")
	with := func(pid int, env map[string]string, files ...proc.OpenFile) proctest.Process {
		f := agent(pid, start)
		f.Environ, f.Files = env, files
		return f
	}
	table := proctest.NewTable(
		with(1, map[string]string{"XDG_DATA_HOME": filepath.Join(base, "data")}, proc.OpenFile{Path: filepath.Join(data, "opencode.db")}),
		with(2, map[string]string{"HOME": "/home/other", "OPENCODE_DB": "mine.db"}),
		with(3, map[string]string{"HOME": base, "OPENCODE_DB": filepath.Join(base, "x.db")}, proc.OpenFile{Path: filepath.Join(base, "x.db")}),
		with(4, nil, proc.OpenFile{Path: "/srv/opencode/log/opencode.log", Offset: 1}),
		with(5, map[string]string{"XDG_DATA_HOME": "relative", "HOME": base, "OPENCODE_DB": ":memory:"}),
	)
	env := map[string]string{"HOME": base, "OPENCODE_DB": "opencode-dev.db"}
	setup := discover.HomeSources{Getenv: func(k string) string { return env[k] }, Configured: []string{link, "/nowhere"}}
	by := func(pids ...int) (ids []proc.ID) {
		for _, pid := range pids {
			p, _ := table.ByPID(pid)
			ids = append(ids, p.ID)
		}
		return ids
	}
	usual, other := filepath.Join(base, ".local/share/opencode"), "/home/other/.local/share/opencode"
	want := []discover.Home{
		{Dir: usual, FromUser: true, NamedBy: by(3, 5)},
		{Dir: link, FromUser: true, Explicit: true, NamedBy: by(1)},
		{Dir: "/nowhere", FromUser: true, Explicit: true},
		{Dir: other, NamedBy: by(2)},
		{Dir: other, Files: []string{filepath.Join(other, "mine.db")}, FilesOnly: true, NamedBy: by(2)},
		{Dir: usual, Files: []string{filepath.Join(base, "x.db")}, FilesOnly: true, NamedBy: by(3)},
		{Dir: "/srv/opencode", NamedBy: by(4)},
	}
	if got := New().Homes(setup, table); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// A database outside of our folder that a process names is trusted only if the user names the file.
func TestHomesOfADatabase(t *testing.T) {
	base := t.TempDir()
	db := filepath.Join(base, "x.db")
	f := agent(3, at(t, "12:00:00"))
	f.Environ = map[string]string{"HOME": base, "OPENCODE_DB": db}
	for _, configured := range [][]string{nil, {db}} {
		setup := discover.HomeSources{Getenv: func(string) string { return "" }, Configured: configured}
		given := 0
		for _, h := range New().Homes(setup, proctest.NewTable(f)) {
			if h.FilesOnly && h.FromUser {
				given++
			}
		}
		if (given > 0) != (len(configured) > 0) {
			t.Errorf("configured %q: %d homes of the database are given", configured, given)
		}
	}
}

// Claims have the home under the name that the user gave it, as entries do.
func TestHomeThroughLink(t *testing.T) {
	dir := restore(t, "fdpos")
	link := filepath.Join(t.TempDir(), "link")
	must.Do(t, os.Symlink(dir, link))
	p := withLog(agent(1, at(t, "19:26:50"), "run", "x"), dir, 20219)
	table := proctest.NewTable(p)
	homes := New().Homes(discover.HomeSources{Getenv: func(string) string { return "" }, Configured: []string{link}}, table)
	claims, err := New().Claims(t.Context(), table, homes)
	if err != nil || len(claims) != 2 || claims[1].Path != filepath.Join(link, "opencode.db") || claims[1].Home != link {
		t.Errorf("claims %+v, %v", claims, err)
	}
}

// Of several names of one database, opencode.db counts, which the agent opens by itself.
func TestDefaultDatabaseIsFirst(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"opencode-backup.db", "opencode.db", "opencode-dev.db"} {
		writeFile(t, filepath.Join(dir, name), nil)
	}
	paths, err := listDatabases(t.Context(), discover.Home{Dir: dir})
	if err != nil || len(paths) != 3 || paths[0] != filepath.Join(dir, "opencode.db") {
		t.Errorf("%q, %v", paths, err)
	}
}
