package sqlite

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"agentctl/discover/storage"
)

// TestOnlyRegularFilesAreOpened: no reader opens a file that is not regular; inotify(7) reports every open.
func TestOnlyRegularFilesAreOpened(t *testing.T) {
	dir := t.TempDir()
	fifo, link, database := filepath.Join(dir, "fifo"), filepath.Join(dir, "link"), filepath.Join(dir, "db")
	err := errors.Join(unix.Mkfifo(fifo, 0o600), os.Symlink("fifo", link), os.WriteFile(database, nil, 0o600),
		unix.Mkfifo(database+"-wal", 0o600))
	if err != nil {
		t.Fatal(err)
	}
	readDB := func(path string) error { return Read(t.Context(), path, func(*DB) error { return nil }) }
	for name, read := range map[string]func() error{
		"Open":               func() error { _, err := storage.Open(t.Context(), fifo); return err },
		"Open of a link":     func() error { _, err := storage.Open(t.Context(), link); return err },
		"OpenLink":           func() error { _, err := storage.OpenLink(t.Context(), link); return err },
		"ReadFile":           func() error { _, err := storage.ReadFileNoFollow(fifo, 10); return err },
		"a database":         func() error { return readDB(fifo) },
		"a linked database":  func() error { return readDB(link) },
		"a database's log":   func() error { return readDB(database) },
		"a file that is not": func() error { _, err := storage.ReadFile(link, 10); return err },
		"a folder": func() error {
			_, err := storage.OpenDir(t.Context(), fifo)
			return errors.Join(storage.ErrNotRegular, err)
		},
	} {
		if opens := opened(t, func() {
			if err := read(); !errors.Is(err, storage.ErrNotRegular) {
				t.Errorf("%s: %v", name, err)
			}
		}, fifo, database+"-wal"); opens > 0 {
			t.Errorf("%s: it is opened", name)
		}
	}
}

// opened counts how often files are opened while do runs (inotify(7)).
func opened(t *testing.T, do func(), paths ...string) (n int) {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	for _, path := range paths {
		if _, err := unix.InotifyAddWatch(fd, path, unix.IN_OPEN); err != nil {
			t.Fatal(err)
		}
	}
	do()
	buf := make([]byte, 4<<10)
	got, err := unix.Read(fd, buf)
	if errors.Is(err, unix.EAGAIN) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < got; at += unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(buf[at+12:])) {
		n++
	}
	return n
}
