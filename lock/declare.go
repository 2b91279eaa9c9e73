package lock

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/BurntSushi/toml"

	"agentctl/discover/native/fsread"
)

// Declare stores a lock on a place. The file appears whole or not at all, whenever we are killed, and only if there is
// none yet, by whatever name of the place: [ErrDeclared]. What has expired is removed on the way.
func (s Store) Declare(p *Place, d Declared, now time.Time) error {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	return s.inTurn(now, func(inForce []Declared) error {
		if slices.ContainsFunc(inForce, func(d Declared) bool { return p.Has(d.Dir) }) {
			return ErrDeclared
		}
		return s.write(d)
	})
}

// inTurn changes the store while no other process does: none removes what another one has just put in the place of an
// expired lock. What has expired, and what somebody who was killed has left, is removed first.
func (s Store) inTurn(now time.Time, change func(inForce []Declared) error) error {
	turn, err := fsread.Dir(s.Dir)
	if err != nil {
		return err
	}
	defer turn.Close()
	if err := syscall.Flock(int(turn.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("locking %s: %w", s.Dir, err)
	}
	inForce, expired, _ := s.read(now) // what cannot be read stays, and is reported by whoever lists
	for _, path := range expired {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := s.sweep(now); err != nil {
		return err
	}
	if err := change(inForce); err != nil {
		return err
	}
	return turn.Sync() // a loss of power, too, leaves what was said
}

// write stores a lock that is not there.
func (s Store) write(d Declared) error {
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
	// Unlike a rename, a link never replaces another lock, be it one that cannot be read.
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

// Remove takes declared locks back. That one is gone already is no error; what somebody has declared in its place stays.
func (s Store) Remove(now time.Time, locks ...Declared) error {
	return s.inTurn(now, func(inForce []Declared) error {
		for _, d := range inForce {
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

// same reports whether two readings are of one lock.
func (d Declared) same(o Declared) bool {
	return d.File == o.File && d.By == o.By && d.Since.Equal(o.Since)
}
