//go:build !linux

package e2e_test

// inotify is what only Linux has.
func inotify() (int, error) { return 0, nil }
