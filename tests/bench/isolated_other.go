//go:build !linux

package main

// isolated runs f among whatever else runs on the machine.
func isolated(o options, f func(options) error) error { return f(o) }
