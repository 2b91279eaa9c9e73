//go:build race && linux && (amd64 || arm64)

package main

// raceAllocations is how many allocations a session the race detector adds: under it sync.Pool, which encoding/json keeps its
// buffers in, forgets some of what it is given.
const raceAllocations = 25
