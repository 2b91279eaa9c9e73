//go:build !linux

package e2e_test

func cutting() map[string]command { return nil }
