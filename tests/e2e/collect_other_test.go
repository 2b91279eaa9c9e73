//go:build !linux

package e2e_test

import (
	"errors"
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
