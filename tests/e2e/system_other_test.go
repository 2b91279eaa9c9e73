//go:build !linux

package e2e_test

import (
	"errors"
	"os"
	"os/exec"
)

// dead waits until the process has ended.
func (a *fakeProcess) dead() error {
	err := a.cmd.Wait()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return nil
	}
	return err
}

// collect is done by waiting for the process itself.
func (a *fakeProcess) collect() {}

// adopt has nothing to do: no other process is waited for.
func becomeSubreaper() error { return nil }

func binds() bool { return false }

func bind(string, string) error { return errors.ErrUnsupported }

func unbind(string) error { return errors.ErrUnsupported }

func dropPrivileges() error {
	if os.Geteuid() == 0 {
		return errors.New("run these tests as a person, not as the superuser: modes forbid nothing to that one")
	}
	return nil
}

// inotify is what only Linux has.
func inotify() (int, error) { return 0, nil }
