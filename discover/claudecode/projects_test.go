package claudecode

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/discover"
)

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
	must(t, os.MkdirAll(filepath.Dir(second), 0o700))
	must(t, os.WriteFile(second, []byte(minimal), 0o600))
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
	must(t, os.WriteFile(filepath.Join(elsewhere, numbered(1)+transcriptSuffix), []byte(minimal), 0o600))
	must(t, os.Symlink(elsewhere, filepath.Join(projectsDir(dir), "-outside")))
	if got := entryIDs(t, dir, discover.EntryFilter{}); !slices.Equal(got, []string{numbered(1), alive}) {
		t.Errorf("entries %v", got)
	}
}
