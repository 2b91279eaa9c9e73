package realagents

import (
	"testing"

	"golang.org/x/sys/unix"
)

// bind gives a directory another name, in this sandbox and until the test ends.
func bind(t *testing.T, dir, name string) {
	t.Helper()
	if err := unix.Mount(dir, name, "", unix.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(name, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
}
