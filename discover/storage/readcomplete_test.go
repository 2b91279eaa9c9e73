package storage

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestReadComplete: a file that was just written in place is read until it is complete; one that was left incomplete is
// read once.
func TestReadComplete(t *testing.T) {
	path := filepath.Join(t.TempDir(), "part.json")
	const content = `{"whole": true}`
	write := func(content string, changed time.Time) {
		t.Helper()
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, changed, changed); err != nil {
			t.Fatal(err)
		}
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
