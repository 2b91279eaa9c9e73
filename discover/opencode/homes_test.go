package opencode

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"agentctl/discover"
	"agentctl/proc"
)

func TestHomes(t *testing.T) {
	base := t.TempDir()
	data := mkdir(t, filepath.Join(base, "data", "opencode"))
	put(t, filepath.Join(data, "opencode.db"), nil)
	link := filepath.Join(base, "link")
	if err := os.Symlink(data, link); err != nil {
		t.Fatal(err)
	}
	start := at(t, "12:00:00")
	with := func(pid int, env map[string]string, files ...proc.OpenFile) proc.Facts {
		f := agent(pid, start)
		f.Environ, f.Files = env, files
		return f
	}
	table := proc.Of(
		with(1, map[string]string{"XDG_DATA_HOME": filepath.Join(base, "data")}, proc.OpenFile{Path: filepath.Join(data, "opencode.db")}),
		with(2, map[string]string{"HOME": "/home/other", "OPENCODE_DB": "mine.db"}),
		with(3, map[string]string{"HOME": base, "OPENCODE_DB": filepath.Join(base, "x.db")}, proc.OpenFile{Path: filepath.Join(base, "x.db")}),
		with(4, nil, proc.OpenFile{Path: "/srv/opencode/log/opencode.log", Offset: 1}),
		with(5, map[string]string{"XDG_DATA_HOME": "relative", "HOME": base, "OPENCODE_DB": ":memory:"}),
	)
	env := map[string]string{"HOME": base, "OPENCODE_DB": "opencode-dev.db"}
	setup := discover.Setup{Getenv: func(k string) string { return env[k] }, Configured: []string{link, "/nowhere"}}
	want := []discover.Home{
		{Dir: filepath.Join(base, ".local/share/opencode"), Files: []string{filepath.Join(base, "x.db")}},
		{Dir: link, Named: true},
		{Dir: "/nowhere", Named: true},
		{Dir: "/home/other/.local/share/opencode", Files: []string{"/home/other/.local/share/opencode/mine.db"}},
		{Dir: "/srv/opencode"},
	}
	if got := New().Homes(setup, table); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// A home is known to its processes under the name that the person gave it: what they claim is what is listed.
func TestHomeThroughLink(t *testing.T) {
	dir := restore(t, "fdpos")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	p := keeping(agent(1, at(t, "19:26:50"), "run", "x"), dir, 20219)
	table := proc.Of(p)
	homes := New().Homes(discover.Setup{Getenv: func(string) string { return "" }, Configured: []string{link}}, table)
	claims, err := New().Claims(t.Context(), table, homes)
	if err != nil || len(claims) != 2 || claims[1].Path != filepath.Join(link, "opencode.db") || claims[1].Home != link {
		t.Errorf("claims %+v, %v", claims, err)
	}
}
