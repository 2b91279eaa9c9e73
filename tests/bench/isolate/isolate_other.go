//go:build !linux

package isolate

import (
	"errors"
	"runtime"
)

func rerun() (int, error) { return 0, errors.New("there are none on " + runtime.GOOS) }

func mountProc() error { return errors.ErrUnsupported }
