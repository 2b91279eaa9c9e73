package discover

import (
	"context"
	"testing"
)

// watchPathsAdapter is an adapter that names one file for each session.
type watchPathsAdapter struct{ Adapter }

func (watchPathsAdapter) Name() Agent                                  { return OpenCode }
func (watchPathsAdapter) WatchPaths(context.Context, Session) []string { return []string{"file"} }
func (watchPathsAdapter) MatchesBinary(string) bool                    { return false }

// No adapter is asked for the files of a process whose home is not ours: it would open them.
func TestAForeignHomeIsNotWatched(t *testing.T) {
	scanner := &Scanner{Adapters: []Adapter{watchPathsAdapter{}}}
	for _, trust := range []Trust{TrustForeign, TrustSeen, TrustOurs} {
		for _, path := range []string{"", "a"} {
			record := Record{Agent: OpenCode, Home: "home", Path: path}
			files := scanner.WatchPaths(t.Context(), Session{Record: &record, Trust: trust})
			if want := path != "" || trust != TrustForeign; (len(files) > 0) != want {
				t.Errorf("%s, path %q: %q", trust, path, files)
			}
		}
	}
}
