package storage

import (
	"os"
	"path/filepath"
	"testing"
)

// TestOpenDirNotExist: the method returns the same errors as the function OpenDir.
func TestOpenDirNotExist(t *testing.T) {
	root := t.TempDir()
	if err := os.Symlink("nowhere", filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	d, err := OpenDir(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, name := range []string{"none", "link", "link/below"} {
		_, want := OpenDir(t.Context(), filepath.Join(root, name))
		if _, err := d.OpenDir(name); err == nil || err.Error() != want.Error() {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
}
