package native

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A small file is read once: what happens to it after its head was looked at does not change its tail. The next file
// in the same memory has its own content.
func TestSmallFilesAreReadOnce(t *testing.T) {
	dir := t.TempDir()
	var scratch Scratch
	for _, content := range []string{"first\nlast\n", "a\n", "", strings.Repeat("line\n", smallFile/len("line\n"))} {
		path := filepath.Join(dir, "f")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		f.Use(&scratch)
		var forward, backward []string
		if _, err := f.Forward(0, 0, func(l Line) bool { forward = append(forward, string(l.Bytes)); return true }); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Backward(0, func(l Line) bool { backward = append(backward, string(l.Bytes)); return true }); err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
		slices.Reverse(backward)
		if got := strings.Join(forward, "\n"); got != strings.TrimSuffix(content, "\n") || !slices.Equal(forward, backward) {
			t.Errorf("%d bytes: forward %.40q, backward %.40q", len(content), got, backward)
		}
	}
}
