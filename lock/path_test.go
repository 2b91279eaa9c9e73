package lock

import (
	"os"
	"path/filepath"
	"testing"
)

func TestResolve(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(top, filepath.Join(top, "link")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"": "", ".": ".", "link/x": "link/x", "/": "/", "/none/x": "/none/x",
		top + "/link": top, top + "/link/none/x": top + "/none/x", top + "/none": top + "/none",
	} {
		if got := Resolve(path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}

func TestWithin(t *testing.T) {
	for paths, want := range map[[2]string]bool{
		{"/a/b", "/a"}: true, {"/a", "/a"}: true, {"/ab", "/a"}: false, {"/a", "/a/b"}: false, {"/a", "/"}: true, {"/a", ""}: false,
	} {
		if got := Within(paths[0], paths[1]); got != want {
			t.Errorf("%q: %v", paths, got)
		}
	}
}
