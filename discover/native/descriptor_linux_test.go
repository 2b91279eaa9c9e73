package native

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
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
	first, never := new(atHand), new(atHand)
	never.never.Store(true)
	for name, a := range map[string]*atHand{"first": first, "never": never} {
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
		if i > 0 && f.at.tries() {
			t.Errorf("look %d: it is tried again", i)
		}
		var readers sync.WaitGroup // as those of a database
		for range 4 {
			readers.Go(func() {
				got := make([]byte, 2*len(want))
				if n, _ := f.ReadAt(got, 0); !bytes.Equal(got[:n], want) {
					t.Errorf("look %d: %q, not %q", i, got[:n], want)
				}
			})
		}
		readers.Wait()
		if err := f.Close(); err != nil || f.at.tries() {
			t.Errorf("look %d: closed: %v; tried again: %t", i, err, f.at.tries())
		}
	}
}
