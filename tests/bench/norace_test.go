//go:build !race

package main

const raceAllocations = 0
