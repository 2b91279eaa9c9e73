package cli

import (
	"slices"
	"testing"

	"agentctl/discover"
	"agentctl/internal/object"
)

// One ID in several places is told apart by the directory, and in two homes that have the same one by the home.
func TestArgumentsFor(t *testing.T) {
	session := func(id, dir, home string) object.Session {
		return object.NewSession(discover.Session{Record: &discover.Record{ID: id, Dir: dir, Home: home}})
	}
	list := []object.Session{
		session("a", "/w", "/h"), session("b", "/w", "/h"), session("b", "/x", "/h"), session("c", "/w", "/h"), session("c", "/w", "/other"), session("", "/w", "/h"),
	}
	if got, want := ArgumentsFor(list), []string{"a", "b@/w", "b@/x", "c@/h", "c@/other", ""}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
