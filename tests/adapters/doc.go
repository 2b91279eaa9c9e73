// Package adapters checks adapters, of real agents and of tests, against the interfaces that discover and launch declare for them.
// It has tests only.
package adapters
