package cmd

import (
	"io"
	"testing"

	"agentctl/internal/cmdutil"
)

// What a command costs before it does its work: `version` does none.
func BenchmarkStart(b *testing.B) {
	f := cmdutil.Factory{Stdout: io.Discard, Stderr: io.Discard}
	for b.Loop() {
		if got := Main([]string{"agentctl", "version"}, f); got != 0 {
			b.Fatal(got)
		}
	}
}
