//go:build !linux

package proc

// listener is not used: the system is asked about each process alone.
type listener struct{}
