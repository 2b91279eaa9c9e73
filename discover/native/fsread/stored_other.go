//go:build !linux

package fsread

import "golang.org/x/sys/unix"

// stored is true: no other system that agentctl runs on has regular files that the kernel makes when they are read.
func stored(int, *unix.Stat_t) bool { return true }

func storedAt(int, string, int, *unix.Stat_t) bool { return true }
