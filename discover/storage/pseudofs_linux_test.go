package storage

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"agentctl/tests/must"
)

// TestPseudoFilesAreNotOpened: files that the kernel makes are refused though they are regular by their mode: by name, by
// a link, and beneath a directory.
func TestPseudoFilesAreNotOpened(t *testing.T) {
	t.Parallel()
	link := filepath.Join(t.TempDir(), "link")
	must.Do(t, os.Symlink("/proc/self/limits", link))
	for _, path := range []string{"/proc/self/limits", link} {
		if _, err := ReadFile(path, 1<<20); !errors.Is(err, ErrNotRegular) {
			t.Errorf("%s: %v", path, err)
		}
		if _, err := ReadHead(path, 1); !errors.Is(err, ErrNotRegular) {
			t.Errorf("the beginning of %s: %v", path, err)
		}
	}
	confined := Confine(t.Context(), Root{Dir: "/proc/self"})
	if _, err := Open(confined, "/proc/self/limits"); !errors.Is(err, ErrNotRegular) {
		t.Errorf("beneath: %v", err)
	}
	// A path through /proc that leads to a stored file is a name of that file.
	f, err := os.Create(filepath.Join(t.TempDir(), "stored"))
	must.Do(t, err)
	defer f.Close()
	stored, err := Open(t.Context(), filepath.Join("/proc/self/root", f.Name()))
	must.Do(t, err)
	_ = stored.Close()
}
