package storage

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"agentctl/tests/must"
)

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
	d, err := OpenDir(t.Context(), dir)
	must.Do(t, err)
	defer d.Close()
	if info, err := d.Stat("regular"); err != nil || info.Size != 1 {
		t.Errorf("%+v, %v", info, err)
	}
	for name, want := range map[string]error{"regular": nil, "link": ErrNotRegular, "below/regular": nil, "below/fifo": ErrNotRegular, "broken": ErrBrokenLink, "none": fs.ErrNotExist, "regular\x00": unix.EINVAL} {
		if info, err := d.Stat("./" + name); !errors.Is(err, want) || err == nil && info.Size != 1 {
			t.Errorf("%q below: %+v, %v, want %v", name, info, err, want)
		}
	}
}

func TestBrokenLinkIsNotNotExist(t *testing.T) {
	dir := t.TempDir()
	link, good := filepath.Join(dir, "link"), filepath.Join(dir, "good")
	must.Do(t, errors.Join(os.Symlink("nowhere", link), os.Symlink(".", good)))
	for _, path := range []string{link, filepath.Join(link, "a", "b")} {
		if _, err := OpenDir(t.Context(), path); !errors.Is(err, ErrBrokenLink) || IsNotExist(err) {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, path := range []string{filepath.Join(dir, "none", "a"), filepath.Join(good, "none"), "none"} {
		if _, err := OpenDir(t.Context(), path); !IsNotExist(err) {
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
		"first": func(v func(Line) bool) (bool, error) { return f.Forward(0, 0, v) },
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
		"forward":  func(v func(Line) bool) (bool, error) { return f.Forward(0, 0, v) },
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
