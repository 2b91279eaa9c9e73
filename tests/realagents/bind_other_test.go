//go:build !linux

package realagents

import "testing"

// bind is not reached: there is no sandbox here.
func bind(t *testing.T, _, _ string) {
	t.Helper()
	t.Fatal("no bind mounts here")
}
