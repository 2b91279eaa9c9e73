//go:build !linux

package e2e_test

func interruptCommands() map[string]command { return nil }
