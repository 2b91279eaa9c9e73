package storage

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sparse makes a file of these texts, each followed by a hole; before the first there is one if begin says so.
func sparse(t *testing.T, hole int64, begin bool, texts ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
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
	if err := f.Truncate(at - hole); err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
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
