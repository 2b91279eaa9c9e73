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

// Declare stores a lock on a workspace. The file appears complete or not at all, whenever this process is killed. If there is a
// lock already, by whatever name of the workspace, the error is [ErrAlreadyDeclared]. Expired locks are removed.
func (s Store) Declare(ctx context.Context, w *Workspace, d DeclaredLock, now time.Time) error {
	if s.Dir == "" {
		return ErrNoStore
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	return s.update(ctx, now, func(c contents) error {
		if slices.ContainsFunc(c.inForce, func(d DeclaredLock) bool { return w.Contains(d.Dir) }) ||
			slices.ContainsFunc(c.unreadable, func(d DeclaredLock) bool { return s.unreadableIn(w, d) }) {
			return ErrAlreadyDeclared
		}
		return s.write(d)
	})
}

// update changes the store while no other process does, so that none removes what another has just stored instead of an
// expired lock. Expired locks and the drafts of killed processes are removed first.
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
	return turn.File().Sync() // so that the change survives a loss of power
}

// write stores a lock whose file does not exist.
func (s Store) write(d DeclaredLock) error {
	var text bytes.Buffer
	if err := toml.NewEncoder(&text).Encode(d); err != nil {
		return fmt.Errorf("writing a lock: %w", err)
	}
	draft, err := os.CreateTemp(s.Dir, draftPrefix)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(draft.Name()) }() // removeDrafts removes what is left
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

// removeDrafts removes the drafts of killed processes: those older than a minute. Writing one takes less.
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
