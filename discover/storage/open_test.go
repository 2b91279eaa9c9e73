package storage

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"agentctl/tests/must"
)

func TestFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, link, fifo := filepath.Join(dir, "f"), filepath.Join(dir, "link"), filepath.Join(dir, "fifo")
	err := errors.Join(os.WriteFile(path, []byte("12345"), 0o600), os.Symlink("f", link), unix.Mkfifo(fifo, 0o600))
	must.Do(t, err)
	for path, want := range map[string]error{
		path: nil, link: nil, fifo: ErrNotRegular, dir: ErrNotRegular, "/dev/zero": ErrNotRegular, filepath.Join(dir, "none"): fs.ErrNotExist,
	} {
		got, err := ReadFile(path, 5)
		if !errors.Is(err, want) || err == nil && string(got) != "12345" {
			t.Errorf("%s: %q, %v, want %v", path, got, err, want)
		}
		if _, err := ReadHead(path, 2); !errors.Is(err, want) {
			t.Errorf("the beginning of %s: %v, want %v", path, err, want)
		}
	}
	if got, err := ReadHead(path, 2); err != nil || string(got) != "12" {
		t.Errorf("the beginning: %q, %v", got, err)
	}
	var pe *fs.PathError
	if _, err := ReadFile(path, 4); !errors.Is(err, ErrTooLarge) || !errors.As(err, &pe) || pe.Path != path {
		t.Errorf("%v, want ErrTooLarge of %s", err, path)
	}
	if _, _, err := OpenFile(t.Context(), link, NoFollow); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a link that is not followed: %v", err)
	}
	if d, err := OpenDirFile(dir); err != nil || d.Close() != nil {
		t.Errorf("a directory: %v", err)
	}
	if _, err := OpenDirFile(fifo); !errors.Is(err, unix.ENOTDIR) {
		t.Errorf("a FIFO as a directory: %v", err)
	}
}

// A hole of a terabyte takes no memory: its size is known before a byte is read.
func TestReadFileTooLarge(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	must.Do(t, errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 1<<40)))
	if _, err := ReadFile(path, 1<<20); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
}

// endless never ends, and counts what was read of it.
type endless struct{ read int64 }

func (e *endless) Read(p []byte) (int, error) {
	e.read += int64(len(p))
	return len(p), nil
}

func TestReadAllIsBounded(t *testing.T) {
	t.Parallel()
	if got, err := ReadAll(strings.NewReader("12345"), 5); err != nil || string(got) != "12345" {
		t.Errorf("%q, %v", got, err)
	}
	const limit = 1 << 20
	var e endless
	if _, err := ReadAll(&e, limit); !errors.Is(err, ErrTooLarge) || e.read > limit+1 {
		t.Errorf("%v after %d bytes", err, e.read)
	}
}

// A pipe that nobody writes to is waited for no longer than the context lasts; so is a FIFO that nobody opens.
func TestReadStreamEndsWithItsContext(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	must.Do(t, err)
	defer w.Close()
	fifo := filepath.Join(t.TempDir(), "fifo")
	must.Do(t, unix.Mkfifo(fifo, 0o600))
	for name, open := range map[string]func() (io.ReadCloser, error){
		"a pipe": func() (io.ReadCloser, error) { return r, nil },
		"a FIFO": func() (io.ReadCloser, error) { return os.Open(fifo) },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := ReadStream(ctx, 10, open); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	got, err := ReadStream(t.Context(), 10, func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("text")), nil })
	if err != nil || string(got) != "text" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestLimitedBufferKeepsTheBeginning(t *testing.T) {
	t.Parallel()
	b := LimitedBuffer{Limit: 5}
	for _, part := range []string{"123", "45", ""} {
		if n, err := b.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	if whole, err := b.Whole(); err != nil || string(whole) != "12345" {
		t.Errorf("%q, %v", whole, err)
	}
	if n, err := b.Write(bytes.Repeat([]byte("x"), 1<<20)); n != 1<<20 || err != nil {
		t.Error(n, err)
	}
	if _, err := b.Whole(); !errors.Is(err, ErrTooLarge) || string(b.Bytes()) != "12345" {
		t.Errorf("%q, %v", b.Bytes(), err)
	}
}

// TestConfinedFile: a database outside of its home is opened by its name in its directory, with the files that SQLite
// keeps next to it. A link in its place is not followed.
func TestConfinedFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	home, elsewhere := filepath.Join(dir, "home"), filepath.Join(dir, "elsewhere")
	db, link := filepath.Join(elsewhere, "x.db"), filepath.Join(elsewhere, "link.db")
	err := errors.Join(os.Mkdir(home, 0o700), os.Mkdir(elsewhere, 0o700), os.Symlink("x.db", link))
	for _, path := range []string{db, db + "-wal", db + "-shm", db + "-journal", filepath.Join(elsewhere, "x.dbs")} {
		err = errors.Join(err, os.WriteFile(path, []byte(path), 0o600))
	}
	must.Do(t, err)
	ctx := Confine(t.Context(), Root{Dir: home, Files: []string{db, link}})
	for path, want := range map[string]error{db: nil, db + "-wal": nil, db + "-shm": nil, db + "-journal": nil, link: ErrNotRegular} {
		place, ok := Confined(ctx, path)
		if !ok || !place.File {
			t.Errorf("%s: %+v, %v, want a confined file", path, place, ok)
			continue
		}
		f, err := Open(ctx, path)
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
		if err == nil {
			_ = f.Close()
		}
	}
	missing := filepath.Join(home, "none")
	if _, err := Stat(ctx, missing); !IsNotExist(WithoutPath(missing, err)) || errors.Unwrap(WithoutPath(missing, err)) != nil {
		t.Errorf("what is missing in a home: %v", err)
	}
	for path, want := range map[string]bool{home: true, filepath.Join(home, "x.db"): true, elsewhere: false, filepath.Join(elsewhere, "x.dbs"): false} {
		if place, ok := Confined(ctx, path); ok != want || place.File {
			t.Errorf("%s: %+v, confined %v, want %v", path, place, ok, want)
		}
	}
}
