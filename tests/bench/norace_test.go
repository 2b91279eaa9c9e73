//go:build !race && linux && (amd64 || arm64)

package main

const raceAllocations = 0
