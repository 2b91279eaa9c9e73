//go:build !linux || !(amd64 || arm64)

package trace

import "os/exec"

// Run returns [ErrUnsupported].
func Run(*exec.Cmd) (Result, error) { return Result{}, ErrUnsupported }

// Kill returns [ErrUnsupported].
func Kill(*exec.Cmd, func(Call) bool) (Result, error) { return Result{}, ErrUnsupported }

// Memory returns [ErrUnsupported].
func Memory(*exec.Cmd) (Result, error) { return Result{}, ErrUnsupported }
