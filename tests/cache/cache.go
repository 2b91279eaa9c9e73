// Package cache keeps what tests bring from elsewhere, real agents and Debian packages, in a folder of the user's cache. Each entry
// is made once, under a lock, in a temporary folder that is renamed when it is finished: what is there is whole, and test runs at
// the same time share it.
package cache

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Root is a folder of entries: the one that the environment variable names, else agentctl-test/NAME in the user's cache.
func Root(variable, name string) (string, error) {
	if dir := os.Getenv(variable); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "agentctl-test", name), err
}

// Make makes the entry of that name in root, unless check finds it finished. build gets an empty folder to fill.
func Make(root, name string, check, build func(dir string) error) error {
	final := filepath.Join(root, name)
	if check(final) == nil {
		return nil
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return err
	}
	unlock, err := lock(filepath.Join(root, "."+name+".lock"))
	if err != nil {
		return err
	}
	defer unlock()
	if check(final) == nil {
		return nil // made while this process waited
	}
	tmp, err := os.MkdirTemp(root, ".new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := os.Chmod(tmp, 0o755); err != nil {
		return err
	}
	if err := build(tmp); err != nil {
		return fmt.Errorf("installing %s: %w", name, err)
	}
	if err := check(tmp); err != nil {
		return fmt.Errorf("%s is installed, but: %w", name, err)
	}
	if err := os.RemoveAll(final); err != nil { // a torn one of a crashed machine
		return err
	}
	return os.Rename(tmp, final)
}

// lock takes an exclusive lock, waiting for it; the kernel frees it if we die.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|unix.O_CLOEXEC, 0o644)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	return func() { _ = f.Close() }, nil
}
