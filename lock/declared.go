package lock

import (
	"cmp"
	"context"
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

	"agentctl/discover/storage"
)

// DeclaredLock is a lock that a user or script has declared on a workspace, until it is removed or expires. It is the only kind
// of lock that is stored: in one small file, which has nothing that could be read elsewhere.
type DeclaredLock struct {
	// Dir is the top of the workspace.
	Dir string `toml:"directory"`
	// By is who declared it, Reason why; both are free text.
	By     string `toml:"by"`
	Reason string `toml:"reason,omitempty"`
	// Since and Until are times in UTC; a zero Until is none.
	Since time.Time `toml:"since"`
	Until time.Time `toml:"until,omitempty"`
	// File is where it is stored.
	File string `toml:"-"`
	// ReadErr says why the file cannot be read; nil if it can. Such a lock is in force all the same, since it may be; only Dir
	// and File are known of it.
	ReadErr error `toml:"-"`
}

// ErrNoStore says that the environment names no folder for declared locks.
var ErrNoStore = errors.New("neither XDG_STATE_HOME nor HOME names an absolute directory, so that there is no place for declared locks")

// ErrAlreadyDeclared says that the workspace has a declared lock already.
var ErrAlreadyDeclared = errors.New("there is a lock already")

// Store is the folder of the declared locks. Without a Dir its methods return [ErrNoStore].
type Store struct{ Dir string }

// StoreFromEnv returns the store that an environment names: agentctl/locks below $XDG_STATE_HOME, which must be absolute to
// count (XDG Base Directory Specification), else below ~/.local/state. Nothing is stored relative to the current directory.
func StoreFromEnv(getenv func(string) string) Store {
	dir := getenv("XDG_STATE_HOME")
	if home := getenv("HOME"); !filepath.IsAbs(dir) {
		if !filepath.IsAbs(home) {
			return Store{}
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return Store{filepath.Join(dir, "agentctl", "locks")}
}

const ext = ".toml"

// fileLimit bounds the file of a declared lock, in bytes; real ones have some hundred.
const fileLimit = 1 << 20

// file returns the path that the lock of a directory is stored at.
func (s Store) file(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(s.Dir, hex.EncodeToString(sum[:10])+ext)
}

// List returns the locks in force, the oldest first. What cannot be read is in the error, file by file; the rest is
// valid all the same.
func (s Store) List(now time.Time) ([]DeclaredLock, error) {
	c, err := s.read(now)
	for _, d := range c.unreadable {
		err = errors.Join(err, d.ReadErr)
	}
	return c.inForce, err
}

// ForWorkspace returns the locks in force on a workspace, the oldest first, and at the end those that cannot be read. There can
// be several, by different names of one directory. The error names unreadable files that may be locks on other workspaces.
func (s Store) ForWorkspace(w *Workspace, now time.Time) ([]DeclaredLock, error) {
	c, err := s.read(now)
	on := slices.DeleteFunc(c.inForce, func(d DeclaredLock) bool { return !w.Contains(d.Dir) })
	for _, d := range c.unreadable {
		if !s.unreadableIn(w, d) {
			err = errors.Join(err, d.ReadErr)
			continue
		}
		d.Dir = w.Top
		on = append(on, d)
	}
	return on, err
}

// unreadableIn reports whether a file that cannot be read is of a lock on the workspace: by its name, or by the directory that it
// names before the damage.
func (s Store) unreadableIn(w *Workspace, d DeclaredLock) bool {
	return d.File == s.file(w.Top) || filepath.IsAbs(d.Dir) && w.Contains(d.Dir)
}

// contents are the files of a store: locks in force, those that cannot be read, and the paths of expired ones.
type contents struct {
	inForce, unreadable []DeclaredLock
	expired             []string
}

// read reads all files. The error is that of the folder.
func (s Store) read(now time.Time) (c contents, err error) {
	if s.Dir == "" {
		return c, ErrNoStore
	}
	folder, err := storage.OpenDirFile(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	defer folder.Close()
	files, err := folder.ReadDir(-1)
	if err != nil {
		return c, err
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ext) {
			continue // one that is being written
		}
		d := load(filepath.Join(s.Dir, f.Name()))
		switch {
		case errors.Is(d.ReadErr, fs.ErrNotExist):
		case d.ReadErr != nil:
			c.unreadable = append(c.unreadable, d)
		case !d.Until.IsZero() && !now.Before(d.Until):
			c.expired = append(c.expired, d.File)
		default:
			c.inForce = append(c.inForce, d)
		}
	}
	slices.SortFunc(c.inForce, func(a, b DeclaredLock) int { return a.Since.Compare(b.Since) })
	slices.SortFunc(c.unreadable, func(a, b DeclaredLock) int { return cmp.Compare(a.File, b.File) })
	return c, nil
}

// load reads one file. Unknown keys are damage, since they may change what the lock means. A symbolic link is damage too:
// agentctl makes none, and its target may be anybody's.
func load(path string) DeclaredLock {
	d := DeclaredLock{File: path}
	f, _, err := storage.OpenFile(context.Background(), path, storage.NoFollow)
	if err == nil {
		defer f.Close()
		var text []byte
		if text, err = storage.ReadAll(f, fileLimit); err == nil {
			err = d.decode(string(text))
		}
	}
	if about, ok := errors.AsType[*fs.PathError](err); ok {
		err = about.Err
	}
	if err != nil {
		d.ReadErr = fmt.Errorf("the lock in %s cannot be read: %w", path, err)
	}
	return d
}

func (d *DeclaredLock) decode(text string) error {
	md, err := toml.Decode(text, d)
	switch {
	case err != nil:
		return err
	case len(md.Undecoded()) > 0:
		return fmt.Errorf("unknown key %q", md.Undecoded()[0].String())
	case !filepath.IsAbs(d.Dir):
		return errors.New("it names no absolute directory")
	}
	return nil
}

// Declare stores a lock on each of the workspaces, or on none. If there is a lock already, by whatever name of a workspace, the error is
// [ErrAlreadyDeclared].
func (s Store) Declare(ctx context.Context, workspaces []*Workspace, d DeclaredLock, now time.Time) error {
	if s.Dir == "" {
		return ErrNoStore
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	return s.update(ctx, now, func(c contents) error {
		for _, w := range workspaces {
			if slices.ContainsFunc(c.inForce, func(d DeclaredLock) bool { return w.Contains(d.Dir) }) ||
				slices.ContainsFunc(c.unreadable, func(d DeclaredLock) bool { return s.unreadableIn(w, d) }) {
				return ErrAlreadyDeclared
			}
		}
		for i, w := range workspaces {
			d.Dir = w.Top
			if err := s.write(d); err != nil {
				for _, written := range workspaces[:i] {
					err = errors.Join(err, os.Remove(s.file(written.Top)))
				}
				return err
			}
		}
		return nil
	})
}

// update changes the store while no other process does, so that none removes what another has just stored instead of an
// expired lock. Expired locks are removed first.
func (s Store) update(ctx context.Context, now time.Time, change func(contents) error) error {
	if s.Dir == "" {
		return ErrNoStore
	}
	turn, err := FlockForUpdate(ctx, s.Dir)
	if err != nil {
		return err
	}
	defer turn.Release()
	stored, err := s.read(now)
	if err != nil {
		return err
	}
	for _, path := range stored.expired {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := change(stored); err != nil {
		return err
	}
	return turn.File().Sync() // so that the change survives a loss of power
}

// write stores a lock whose file does not exist.
func (s Store) write(d DeclaredLock) error {
	text, err := toml.Marshal(d)
	if err != nil {
		return fmt.Errorf("writing a lock: %w", err)
	}
	err = WriteFile(s.file(d.Dir), string(text), 0o600, os.Link) // a rename would replace a lock that cannot be read
	if errors.Is(err, fs.ErrExist) {
		return ErrAlreadyDeclared
	}
	return err
}

// Remove removes declared locks, also those that cannot be read. A lock that is gone already is no error, and one that was
// declared since then stays.
func (s Store) Remove(ctx context.Context, now time.Time, locks ...DeclaredLock) error {
	return s.update(ctx, now, func(c contents) error {
		for _, d := range slices.Concat(c.inForce, c.unreadable) {
			if !slices.ContainsFunc(locks, d.same) {
				continue
			}
			if err := os.Remove(d.File); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return nil
	})
}

// same reports whether both are readings of one lock, or of one file that cannot be read.
func (d DeclaredLock) same(o DeclaredLock) bool {
	if d.ReadErr != nil || o.ReadErr != nil {
		return d.File == o.File && d.ReadErr != nil && o.ReadErr != nil
	}
	return d.File == o.File && d.By == o.By && d.Since.Equal(o.Since)
}
