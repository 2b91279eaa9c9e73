package lock

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/BurntSushi/toml"
)

// Declare stores a lock. The file appears whole or not at all, whenever we are killed, and only if there is none yet:
// [ErrDeclared]. What has expired is removed on the way.
func (s Store) Declare(d Declared, now time.Time) error {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	// Writers take turns, so that none removes what another one has just put in the place of an expired lock.
	turn, err := os.Open(s.Dir)
	if err != nil {
		return err
	}
	defer turn.Close()
	if err := syscall.Flock(int(turn.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("locking %s: %w", s.Dir, err)
	}
	_, expired, _ := s.read(now) // what cannot be read stays, and is reported by whoever lists
	for _, path := range expired {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := s.sweep(now); err != nil {
		return err
	}
	var text bytes.Buffer
	if err := toml.NewEncoder(&text).Encode(d); err != nil {
		return fmt.Errorf("writing a lock: %w", err)
	}
	draft, err := os.CreateTemp(s.Dir, draftPrefix)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(draft.Name()) }() // what is left is swept later
	_, err = draft.Write(text.Bytes())
	if err := errors.Join(err, draft.Sync(), draft.Close()); err != nil {
		return err
	}
	// Unlike a rename, a link never replaces another lock.
	err = os.Link(draft.Name(), s.file(d.Dir))
	if errors.Is(err, fs.ErrExist) {
		return ErrDeclared
	}
	return err
}

// draftPrefix begins the names of files that are being written.
const draftPrefix = ".draft-"

// sweep removes drafts that somebody who was killed has left. Writing one takes no minute.
func (s Store) sweep(now time.Time) error {
	drafts, err := filepath.Glob(filepath.Join(s.Dir, draftPrefix+"*"))
	for _, path := range drafts {
		info, bad := os.Stat(path)
		if bad == nil && now.Sub(info.ModTime()) > time.Minute {
			bad = os.Remove(path)
		}
		if bad != nil && !errors.Is(bad, fs.ErrNotExist) {
			err = errors.Join(err, bad)
		}
	}
	return err
}

// Remove takes a declared lock back. That it is gone already is no error.
func (s Store) Remove(d Declared) error {
	err := os.Remove(d.File)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
