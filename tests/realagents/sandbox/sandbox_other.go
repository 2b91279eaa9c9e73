//go:build !linux

package sandbox

import (
	"errors"
	"runtime"
)

func rerun() (int, error) { return 0, errors.New("there are none on " + runtime.GOOS) }

func setup() error { return errors.ErrUnsupported }
