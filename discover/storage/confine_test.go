package storage

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

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
	if err != nil {
		t.Fatal(err)
	}
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
	for path, want := range map[string]bool{home: true, filepath.Join(home, "x.db"): true, elsewhere: false, filepath.Join(elsewhere, "x.dbs"): false} {
		if place, ok := Confined(ctx, path); ok != want || place.File {
			t.Errorf("%s: %+v, confined %v, want %v", path, place, ok, want)
		}
	}
}
