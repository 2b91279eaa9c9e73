//go:build !linux

package e2e_test

import (
	"errors"
	"os"
)

func dropPrivileges() error {
	if os.Geteuid() == 0 {
		return errors.New("run these tests as a person, not as the superuser: modes forbid nothing to that one")
	}
	return nil
}
