package lock

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"agentctl/discover/native/fsread"
)

// Declared is a lock that somebody has declared on a place, until it is taken back or expires. It is the only kind that
// anything is stored of: one small file, which says nothing that could be looked up elsewhere.
type Declared struct {
	// Dir is the place's top directory.
	Dir string `toml:"directory"`
	// By is who declared it, Reason why; free text.
	By     string `toml:"by"`
	Reason string `toml:"reason,omitempty"`
	// Since and Until are times in UTC; a zero Until is none.
	Since time.Time `toml:"since"`
	Until time.Time `toml:"until,omitempty"`
	// File is where it is stored.
	File string `toml:"-"`
}

// ErrDeclared: the place has a declared lock already.
var ErrDeclared = errors.New("there is a lock already")

// Store is the folder of the declared locks.
type Store struct{ Dir string }

// StoreIn returns the store that an environment names: agentctl/locks below $XDG_STATE_HOME, which must be absolute to
// count (XDG Base Directory Specification), else below ~/.local/state.
func StoreIn(getenv func(string) string) Store {
	dir := getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(getenv("HOME"), ".local", "state")
	}
	return Store{filepath.Join(dir, "agentctl", "locks")}
}

const ext = ".toml"

// fileLimit bounds the file of a declared lock, in bytes; real ones have some hundred.
const fileLimit = 1 << 20

// file is where the lock of a directory is stored: one directory has one name.
func (s Store) file(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(s.Dir, hex.EncodeToString(sum[:10])+ext)
}

// List returns the locks in force, the oldest first. What cannot be read is in the error, file by file; the rest is
// valid all the same.
func (s Store) List(now time.Time) ([]Declared, error) {
	all, _, err := s.read(now)
	return all, err
}

// On returns the locks in force on a place. There can be several, by different names of one directory.
func (s Store) On(p *Place, now time.Time) ([]Declared, error) {
	all, _, err := s.read(now)
	return slices.DeleteFunc(all, func(d Declared) bool { return !p.Has(d.Dir) }), err
}

// read parts what is stored into locks in force and files of expired ones.
func (s Store) read(now time.Time) (inForce []Declared, expired []string, err error) {
	files, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ext) {
			continue // one that is being written
		}
		d, bad := load(filepath.Join(s.Dir, f.Name()))
		switch {
		case errors.Is(bad, fs.ErrNotExist):
		case bad != nil:
			err = errors.Join(err, bad)
		case !d.Until.IsZero() && !now.Before(d.Until):
			expired = append(expired, d.File)
		default:
			inForce = append(inForce, d)
		}
	}
	slices.SortFunc(inForce, func(a, b Declared) int { return a.Since.Compare(b.Since) })
	return inForce, expired, err
}

// load reads one file. Unknown keys are errors: they may be what makes the lock another one.
func load(path string) (Declared, error) {
	d := Declared{File: path}
	text, err := fsread.File(path, fileLimit)
	if err != nil {
		return d, err
	}
	md, err := toml.Decode(string(text), &d)
	if err == nil && len(md.Undecoded()) > 0 {
		err = fmt.Errorf("unknown key %q", md.Undecoded()[0].String())
	}
	if err == nil && !filepath.IsAbs(d.Dir) {
		err = errors.New("it names no absolute directory")
	}
	if err != nil {
		return d, fmt.Errorf("%s: %w", path, err)
	}
	return d, nil
}
