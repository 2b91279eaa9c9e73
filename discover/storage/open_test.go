package storage

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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

func TestOnlyRegularFilesAreOpened(t *testing.T) {
	dir := t.TempDir()
	regular := filepath.Join(dir, "regular")
	must.Do(t, os.WriteFile(regular, []byte("x"), 0o600))
	fifo, link, below := filepath.Join(dir, "fifo"), filepath.Join(dir, "link"), filepath.Join(dir, "below")
	moved, toFIFO := filepath.Join(below, "regular"), filepath.Join(below, "fifo")
	if err := errors.Join(unix.Mkfifo(fifo, 0o600), os.Symlink(regular, link), os.Mkdir(below, 0o700), os.Symlink(regular, moved),
		os.Symlink(fifo, toFIFO), os.Symlink("nowhere", filepath.Join(dir, "broken"))); err != nil {
		t.Fatal(err)
	}
	f, err := Open(t.Context(), moved)
	if err != nil || f.Close() != nil {
		t.Errorf("a file that was moved: %v", err)
	}
	if _, err := Open(Confine(t.Context(), Root{Dir: dir}), moved); !errors.Is(err, ErrNotRegular) {
		t.Errorf("confined: %v", err)
	}
	for _, path := range []string{fifo, link, dir, "/dev/null", toFIFO} {
		if _, err := Open(t.Context(), path); !errors.Is(err, ErrNotRegular) {
			t.Errorf("%s: %v, want ErrNotRegular", path, err)
		}
	}
	if _, err := Open(t.Context(), filepath.Join(dir, "none")); !IsNotExist(err) {
		t.Errorf("%v, want absent", err)
	}
	for name, want := range map[string]error{"regular": nil, "link": ErrNotRegular, "below/regular": nil, "below/fifo": ErrNotRegular, "broken": ErrBrokenLink, "none": fs.ErrNotExist, "regular\x00": unix.EINVAL} {
		if info, err := Stat(t.Context(), dir+"/"+name); !errors.Is(err, want) || err == nil && info.Size != 1 {
			t.Errorf("%q below: %+v, %v, want %v", name, info, err, want)
		}
	}
}

func TestBrokenLinkIsNotNotExist(t *testing.T) {
	dir := t.TempDir()
	link, good := filepath.Join(dir, "link"), filepath.Join(dir, "good")
	must.Do(t, errors.Join(os.Symlink("nowhere", link), os.Symlink(".", good)))
	for _, path := range []string{link, filepath.Join(link, "a", "b")} {
		if err := CheckDir(t.Context(), path); !errors.Is(err, ErrBrokenLink) || IsNotExist(err) {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, path := range []string{filepath.Join(dir, "none", "a"), filepath.Join(good, "none"), "none"} {
		if err := CheckDir(t.Context(), path); !IsNotExist(err) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestReadFileNoFollowIsBounded(t *testing.T) {
	path := writeTemp(t, []byte("12345"))
	if _, err := ReadFileNoFollow(path, 4); !errors.Is(err, ErrTooLarge) {
		t.Errorf("%v, want ErrTooLarge", err)
	}
	if got, err := ReadFileNoFollow(path, 5); err != nil || string(got) != "12345" {
		t.Errorf("%q, %v", got, err)
	}
	var pe *fs.PathError
	if _, err := ReadFileNoFollow(path, 1); !errors.As(err, &pe) || pe.Path != path {
		t.Errorf("%v does not name the file", err)
	}
}

// sparse makes a file of these texts, each followed by a hole; before the first there is one if begin says so.
func sparse(t *testing.T, hole int64, begin bool, texts ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f")
	f, err := os.Create(path)
	must.Do(t, err)
	defer f.Close()
	at := int64(0)
	if begin {
		at = hole
	}
	for _, text := range texts {
		if _, err := f.WriteAt([]byte(text), at); err != nil {
			t.Fatal(err)
		}
		at += int64(len(text)) + hole
	}
	must.Do(t, f.Truncate(at-hole))
	return path
}

// TestHolesAreLeft: the lines before a hole of a terabyte are visited, from either end, and the hole is an error.
func TestHolesAreLeft(t *testing.T) {
	t.Parallel()
	f := openTemp(t, sparse(t, 1<<40, false, "first\ncut", "\nlast\n"))
	for direction, read := range map[string]func(func(Line) bool) (bool, error){
		"first": func(v func(Line) bool) (bool, error) { return f.Forward(0, v) },
		"last":  func(v func(Line) bool) (bool, error) { return f.Backward(0, v) },
	} {
		var got []string
		whole, err := read(func(l Line) bool {
			if l.Cut {
				got = append(got, "cut")
			} else {
				got = append(got, string(l.Bytes))
			}
			return true
		})
		if whole || !errors.Is(err, ErrTooLarge) || !slices.Equal(got, []string{direction, "cut"}) {
			t.Errorf("%s: %.100q, %v, %v", direction, got, whole, err)
		}
	}
}

// TestReadingEndsWithItsContext at any position.
func TestReadingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	f, err := Open(t.Context(), sparse(t, 0, false, strings.Repeat("line\n", 1<<20)))
	must.Do(t, err)
	defer f.Close()
	for direction, read := range map[string]func(func(Line) bool) (bool, error){
		"forward":  func(v func(Line) bool) (bool, error) { return f.Forward(0, v) },
		"backward": func(v func(Line) bool) (bool, error) { return f.Backward(0, v) },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		f.ctx = ctx
		lines := 0
		whole, err := read(func(Line) bool {
			lines++
			cancel()
			return true
		})
		if whole || !errors.Is(err, context.Canceled) || lines > maxChunk {
			t.Errorf("%s: %d lines, %v, %v", direction, lines, whole, err)
		}
	}
}
