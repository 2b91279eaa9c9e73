//go:build linux && (amd64 || arm64)

package main

import (
	"path/filepath"
	"testing"
)

// listOfWhatLives: what the players play is recognised, from a home that is not theirs, and the search for it in that home
// costs no more than a page for each of them, however much is stored there.
func listOfWhatLives(t *testing.T, small, large world) {
	work := t.TempDir()
	live, err := startLive(work, filepath.Join(work, "live"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := live.stop(); err != nil {
			t.Error(err)
		}
	}()
	a, err := live.listed(small.agentctl, small.home)
	if err != nil {
		t.Fatal(err)
	}
	b, err := live.listed(large.agentctl, large.home)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d and %d calls on files", a, b)
	if b-a > players {
		t.Errorf("%d sessions: %d calls on files; %d sessions: %d", len(small.sessions), a, len(large.sessions), b)
	}
}
