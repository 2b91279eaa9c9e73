package claudecode

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/tests/must"
	"agentctl/tests/proctest"
)

func TestHomes(t *testing.T) {
	real := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	must.Do(t, os.Symlink(real, link))
	env := map[string]string{"HOME": "/home/u", configKey: link}
	table := proctest.NewTable(native329(1, 1, "/home/v/.claude", "/w"), native329(2, 2, "/home/v/.claude", "/w"), func() proctest.Process {
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

func TestSlug(t *testing.T) {
	long := "/" + strings.Repeat("a", 300)
	for dir, want := range map[string]string{
		"/tmp/slug/a.b_c": "-tmp-slug-a-b-c", "/x/Ünïcödé-日本": "-x--n-c-d----", "/e😀x": "-e--x", "": "",
		long: "-" + strings.Repeat("a", 199) + "-",
	} {
		if got := slug(dir); got != want {
			t.Errorf("slug(%q) = %q, want %q", dir, got, want)
		}
	}
}

// The project folder of a very long path ends with a hash.
func TestIsSlugOf(t *testing.T) {
	long := "/" + strings.Repeat("a", 300)
	for project, want := range map[string]bool{slug(long) + "zzzz": true, "-w": false, slug(long)[1:]: false} {
		if isSlugOf(project, long) != want {
			t.Errorf("%s: %v", project, !want)
		}
	}
}

// A session whose process has changed its directory is found in its first project. If two projects have the session,
// neither is taken.
func TestFindTranscript(t *testing.T) {
	dir := t.TempDir()
	path := writeTranscript(t, dir, minimal)
	if got := findTranscript(t.Context(), dir, "/w/elsewhere", alive); got != path {
		t.Errorf("from elsewhere: %q", got)
	}
	second := transcriptPath(dir, "/v", alive)
	must.Do(t, os.MkdirAll(filepath.Dir(second), 0o700))
	must.Do(t, os.WriteFile(second, []byte(minimal), 0o600))
	if got := findTranscript(t.Context(), dir, "/v", alive); got != second {
		t.Errorf("in its directory: %q", got)
	}
	if got := findTranscript(t.Context(), dir, "/w/elsewhere", alive); got != "" {
		t.Errorf("ambiguous: %q", got)
	}
}

func TestLinkedProjectFolder(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	writeTranscript(t, dir, minimal)
	must.Do(t, os.WriteFile(filepath.Join(elsewhere, numbered(1)+transcriptSuffix), []byte(minimal), 0o600))
	must.Do(t, os.Symlink(elsewhere, filepath.Join(projectsDir(dir), "-outside")))
	if got := entryIDs(t, dir, discover.EntryFilter{}); !slices.Equal(got, []string{numbered(1), alive}) {
		t.Errorf("entries %v", got)
	}
}

// A link to a project folder of the same store, as after a move of the project, leads to the same sessions.
func TestLinkToAProjectFolder(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	path := writeTranscript(t, dir, minimal)
	must.Do(t, os.WriteFile(filepath.Join(elsewhere, numbered(1)+transcriptSuffix), []byte(minimal), 0o600))
	for name, target := range map[string]string{"-new": filepath.Base(filepath.Dir(path)), "-newer": "-new", "-a": elsewhere, "-b": elsewhere} {
		must.Do(t, os.Symlink(target, filepath.Join(projectsDir(dir), name)))
	}
	for _, from := range []string{"/w", "/new", "/newer", "/elsewhere"} {
		if got := findTranscript(t.Context(), dir, from, alive); got != path {
			t.Errorf("from %s: %q", from, got)
		}
	}
	if got, want := findTranscript(t.Context(), dir, "/w", numbered(1)), filepath.Join(projectsDir(dir), "-a", numbered(1)+transcriptSuffix); got != want {
		t.Errorf("outside: %q", got)
	}
	for _, q := range []discover.EntryFilter{{ID: alive}, {ID: alive[:8]}} {
		if got, err := New().Entries(t.Context(), []discover.Home{{Dir: dir}}, q); err != nil || len(got) != 1 || got[0].Path != path {
			t.Errorf("entries %v, %v", got, err)
		}
	}
}

// Session IDs are random; those of sub-agents are after a prefix.
func TestShortID(t *testing.T) {
	for id, want := range map[string]int{"479c58fd-bac9-45a8-9895-8d4f68f8467f": 8, "agent-a0123456789abcdef": len("agent-a01234567"), "agent-01234567": 15, "agent-aside_question-0123456789abcdef": len("agent-aside_question-012345678")} {
		if got := New().ShortID(id); got != want {
			t.Errorf("%q: %d, want %d", id, got, want)
		}
	}
}
