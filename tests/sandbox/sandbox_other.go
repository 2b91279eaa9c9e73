//go:build !linux

package sandbox

import (
	"errors"
	"runtime"
)

func rerun(Set) (int, error) { return 0, errors.New("there are none on " + runtime.GOOS) }

// Nothing gets as far as these, since nothing is run again.
func setup(Set) error { return errors.ErrUnsupported }

func serve(Set) int { return setupFailed }
