//go:build !linux

package e2e_test

import "errors"

func binds() bool { return false }

func bind(string, string) error { return errors.ErrUnsupported }

func unbind(string) error { return errors.ErrUnsupported }
