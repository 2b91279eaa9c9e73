package discover

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"agentctl/discover/storage"
	"agentctl/tests/must"
)

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
