package claudecode

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"agentctl/discover"
	"agentctl/proc"
)

func TestHomes(t *testing.T) {
	real := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(real, link))
	env := map[string]string{"HOME": "/home/u", configKey: link}
	table := proc.NewFakeTable(native329(1, 1, "/home/v/.claude", "/w"), native329(2, 2, "/home/v/.claude", "/w"), func() proc.FakeProcess {
		f := native329(3, 3, "", "/w")
		f.Environ = map[string]string{"HOME": "/home/x", configKey: "conf"}
		return f
	}())
	setup := discover.HomeSources{Getenv: func(k string) string { return env[k] }, Configured: []string{real, "/etc/claude"}}
	got := fmt.Sprint(New().Homes(setup, table))
	want := fmt.Sprint([]discover.Home{
		{Dir: link, FromUser: true, Explicit: true},
		{Dir: "/etc/claude", FromUser: true, Explicit: true},
		{Dir: "/home/v/.claude", NamedBy: idsOf(table, 1, 2)},
		{Dir: "/w/conf", NamedBy: idsOf(table, 3)},
	})
	if got != want {
		t.Errorf("homes %s, want %s", got, want)
	}
}

func TestUnusableHomes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(file, nil, 0o600))
	missing := filepath.Join(t.TempDir(), "missing")
	loop := filepath.Join(t.TempDir(), "loop")
	must(t, os.Symlink(loop, loop))
	for _, c := range []struct {
		home   discover.Home
		warned int
	}{
		{discover.Home{Dir: missing}, 0},
		{discover.Home{Dir: missing, Explicit: true}, 1},
		{discover.Home{Dir: t.TempDir(), Explicit: true}, 0},
		{discover.Home{Dir: file}, 1},
		{discover.Home{Dir: file, Explicit: true}, 1},
		{discover.Home{Dir: loop}, 1},
	} {
		for _, q := range []discover.EntryFilter{{}, {ID: alive}, {ID: "c"}, {Refs: []discover.Ref{{ID: alive}}}} {
			entries, err := New().Entries(context.Background(), []discover.Home{c.home}, q)
			if len(entries) > 0 || len(warningsIn(t, err)) != c.warned {
				t.Errorf("%+v, %+v: %v, %v", c.home, q, entries, err)
			}
		}
	}
}
