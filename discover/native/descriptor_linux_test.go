package native

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// What is not in memory is read as well, as is what this system cannot ask for without waiting.
func TestReadsWhatIsNotAtHand(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	content := bytes.Repeat([]byte("0123456789abcdef"), 64<<10)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, a := range map[string]*atHand{"first": {}, "never": {never: true}} {
		f, err := openBelow(new(File), a, unix.AT_FDCWD, path, path)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		defer f.Close()
		if err := forget(f.at.fd); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(content))
		if n, err := f.ReadAt(got, 0); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%s: %d bytes of %d, %v", name, n, len(content), err)
		}
	}
}

// forget has the system write a file to its disk and drop what it holds of it in memory.
func forget(fd int) error {
	if err := unix.Fsync(fd); err != nil {
		return err
	}
	return unix.Fadvise(fd, 0, 0, unix.FADV_DONTNEED)
}

// Where there are no such reads, that is found out once, and all is read as it always was.
func TestNotAskedAgain(t *testing.T) {
	t.Parallel()
	const path = "/proc/self/environ" // a regular file by its type, that has no such reads
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var a atHand
	for i := range 3 {
		f, err := openBelow(new(File), &a, unix.AT_FDCWD, path, path)
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 && f.at.here != nil {
			t.Errorf("look %d: it is tried again", i)
		}
		got := make([]byte, 2*len(want))
		n, _ := f.ReadAt(got, 0)
		if err := f.Close(); err != nil || !bytes.Equal(got[:n], want) {
			t.Errorf("look %d: %q, not %q (%v)", i, got[:n], want, err)
		}
		if !a.never {
			t.Errorf("look %d: it is not known that there are none", i)
		}
	}
}
