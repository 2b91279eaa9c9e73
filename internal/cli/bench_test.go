package cli

import (
	"io"
	"testing"
)

// What a command costs before it does its work: `version` does none.
func BenchmarkStart(b *testing.B) {
	env := Env{Stdout: io.Discard, Stderr: io.Discard}
	for b.Loop() {
		if got := Main([]string{"agentctl", "version"}, env); got != 0 {
			b.Fatal(got)
		}
	}
}
