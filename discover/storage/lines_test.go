package storage

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/tests/must"
)

func writeTemp(t testing.TB, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f")
	must.Do(t, os.WriteFile(path, data, 0o600))
	return path
}

func openTemp(t testing.TB, path string) *File {
	t.Helper()
	f, err := Open(t.Context(), path)
	must.Do(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// terminated returns the lines of data that end in a newline: the reference for the readers.
func terminated(data []byte) []string {
	end := bytes.LastIndexByte(data, '\n')
	if end < 0 {
		return nil
	}
	return strings.Split(string(data[:end]), "\n")
}

func collect(t testing.TB, data []byte, read func(func(Line) bool) (bool, error)) []string {
	t.Helper()
	var out []string
	whole, err := read(func(l Line) bool {
		if l.Cut {
			return true
		}
		if got := data[l.Offset : int(l.Offset)+len(l.Bytes)]; !bytes.Equal(got, l.Bytes) {
			t.Fatalf("at offset %d there is %q, not %q", l.Offset, got, l.Bytes)
		}
		out = append(out, string(l.Bytes))
		return true
	})
	if err != nil || !whole {
		t.Fatalf("whole %v, %v", whole, err)
	}
	return out
}

func checkLines(t testing.TB, data []byte) {
	t.Helper()
	f := openTemp(t, writeTemp(t, data))
	want := terminated(data)
	got := collect(t, data, func(v func(Line) bool) (bool, error) { return f.Forward(0, 0, v) })
	if !slices.Equal(got, want) {
		t.Fatalf("forward: %d lines, want %d", len(got), len(want))
	}
	got = collect(t, data, func(v func(Line) bool) (bool, error) { return f.Backward(0, v) })
	slices.Reverse(got)
	if !slices.Equal(got, want) {
		t.Fatalf("backward: %d lines, want %d", len(got), len(want))
	}
}

func TestLinesAreThoseOfTheFile(t *testing.T) {
	long := strings.Repeat("x", 3*maxChunk)
	for _, data := range []string{
		"", "\n", "a", "a\n", "a\nb", "\n\n", "a\n\nb\n", long, long + "\n", long + "\n" + long + "\nshort\n", "short\n" + long,
		strings.Repeat("line\n", 50_000), strings.Repeat("x", firstChunk-1) + "\n", strings.Repeat("x", firstChunk) + "\ny\n",
	} {
		checkLines(t, []byte(data))
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("{}\n{}\n{"), 3)
	f.Add([]byte("\n\n"), 20_000)
	f.Fuzz(func(t *testing.T, data []byte, times int) {
		checkLines(t, bytes.Repeat(data, max(1, min(times, 1<<16/(len(data)+1)))))
	})
}

func TestGiantLinesAreTruncated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "giant")
	w, err := os.Create(path)
	must.Do(t, err)
	defer w.Close()
	const hole = 3 * MaxLine
	for _, part := range []struct {
		at   int64
		text string
	}{{0, "first\n"}, {hole, "\nlast\n"}} {
		if _, err := w.WriteAt([]byte(part.text), part.at); err != nil {
			t.Fatal(err)
		}
	}
	f := openTemp(t, path)
	for name, read := range map[string]func(func(Line) bool) (bool, error){
		"forward":  func(v func(Line) bool) (bool, error) { return f.Forward(0, 0, v) },
		"backward": func(v func(Line) bool) (bool, error) { return f.Backward(0, v) },
	} {
		var got []string
		whole, err := read(func(l Line) bool {
			if l.Cut {
				if len(l.Bytes) > MaxLine {
					t.Errorf("%s holds %d bytes", name, len(l.Bytes))
				}
				got = append(got, "cut")
			} else {
				got = append(got, string(l.Bytes))
			}
			return true
		})
		if name == "backward" {
			slices.Reverse(got)
		}
		if err != nil || !whole || !slices.Equal(got, []string{"first", "cut", "last"}) {
			t.Errorf("%s: %q, %v, %v", name, got, whole, err)
		}
	}
}

// TestReadComplete: a file that was just written in place is read until it is complete; one that was left incomplete is
// read once.
func TestReadComplete(t *testing.T) {
	path := filepath.Join(t.TempDir(), "part.json")
	const content = `{"whole": true}`
	write := func(content string, changed time.Time) {
		t.Helper()
		must.Do(t, os.WriteFile(path, []byte(content), 0o600))
		must.Do(t, os.Chtimes(path, changed, changed))
	}
	isWhole := json.Valid

	// The writer has emptied the file; it goes on while the file is looked at.
	for _, changed := range []time.Time{time.Now(), time.Now().Add(-time.Minute), time.Now().Add(time.Minute)} {
		looks := 0
		write("", changed)
		data, err := readComplete(t.Context(), path, 100, time.Hour, func(data []byte) bool {
			looks++
			write(content[:min(len(content), 5*looks)], changed)
			return isWhole(data)
		})
		if err != nil || string(data) != content || looks != 4 {
			t.Errorf("%q, %v after %d looks, want 4", data, err, looks)
		}
	}

	// Left so by a writer that died: one look, and the caller gets what is there.
	for _, torn := range []string{"", content[:7]} {
		for _, changed := range []time.Time{time.Now().Add(-time.Hour), time.Now().Add(time.Hour)} {
			looks := 0
			write(torn, changed)
			data, err := ReadComplete(t.Context(), path, 100, func(data []byte) bool { looks++; return isWhole(data) })
			if err != nil || string(data) != torn || looks != 1 {
				t.Errorf("%q, %v after %d looks, want 1", data, err, looks)
			}
		}
	}

	// One that is torn for good, but just now, is given back as well; one that goes away is absent.
	write(content[:7], time.Now())
	if data, err := ReadComplete(t.Context(), path, 100, isWhole); err != nil || string(data) != content[:7] {
		t.Errorf("%q, %v", data, err)
	}
	write("", time.Now())
	_, err := readComplete(t.Context(), path, 100, time.Hour, func([]byte) bool { _ = os.Remove(path); return false })
	if !IsNotExist(err) {
		t.Errorf("%v, want absent", err)
	}
}
