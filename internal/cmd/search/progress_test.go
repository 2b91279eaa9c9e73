package search

import "testing"

func TestProgressSaysHowManyAreSearched(t *testing.T) {
	var p progress
	if got := p.String(); got != "listing the agents' stores" {
		t.Errorf("before: %q", got)
	}
	p.set(32, 10000)
	if got := p.String(); got != "searched 32 of 10000 sessions" {
		t.Errorf("%q", got)
	}
}
