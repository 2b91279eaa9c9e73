package lock

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/BurntSushi/toml"
)

// Declare stores a lock on a place. The file appears whole or not at all, whenever we are killed, and only if there is
// none yet, by whatever name of the place: [ErrAlreadyDeclared]. What has expired is removed on the way.
func (s Store) Declare(ctx context.Context, p *Workspace, d DeclaredLock, now time.Time) error {
	if s.Dir == "" {
		return ErrNoStore
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	return s.update(ctx, now, func(c contents) error {
		if slices.ContainsFunc(c.inForce, func(d DeclaredLock) bool { return p.Contains(d.Dir) }) ||
			slices.ContainsFunc(c.unreadable, func(d DeclaredLock) bool { return s.unreadableIn(p, d) }) {
			return ErrAlreadyDeclared
		}
		return s.write(d)
	})
}

// update changes the store while no other process does: none removes what another one has just put in the place of an
// expired lock. What has expired, and what somebody who was killed has left, is removed first.
func (s Store) update(ctx context.Context, now time.Time, change func(contents) error) error {
	if s.Dir == "" {
		return ErrNoStore
	}
	turn, err := FlockDirTimeout(ctx, s.Dir)
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
	if err := s.removeDrafts(now); err != nil {
		return err
	}
	if err := change(stored); err != nil {
		return err
	}
	return turn.File().Sync() // a loss of power, too, leaves what was said
}

// write stores a lock that is not there.
func (s Store) write(d DeclaredLock) error {
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
		return ErrAlreadyDeclared
	}
	return err
}

// draftPrefix begins the names of files that are being written.
const draftPrefix = ".draft-"

// removeDrafts removes drafts that somebody who was killed has left. Writing one takes no minute.
func (s Store) removeDrafts(now time.Time) error {
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

// Remove takes declared locks back, also those that cannot be read. That one is gone already is no error; what somebody has
// declared in its place stays.
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

// same reports whether two readings are of one lock, or of one file that cannot be read.
func (d DeclaredLock) same(o DeclaredLock) bool {
	if d.ReadErr != nil || o.ReadErr != nil {
		return d.File == o.File && d.ReadErr != nil && o.ReadErr != nil
	}
	return d.File == o.File && d.By == o.By && d.Since.Equal(o.Since)
}
