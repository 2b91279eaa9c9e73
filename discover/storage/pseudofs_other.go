//go:build !linux

package storage

import "io/fs"

// inPseudoFS is false: no other system that agentctl runs on has regular files that the kernel makes when they are read.
func inPseudoFS(string, fs.FileInfo) bool { return false }
