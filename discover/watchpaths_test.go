package discover

import (
	"context"
	"testing"
)

// watchful is an adapter that names a file for every session.
type watchful struct{ Adapter }

func (watchful) Name() Agent                                  { return OpenCode }
func (watchful) WatchPaths(context.Context, Session) []string { return []string{"file"} }
func (watchful) MatchesBinary(string) bool                    { return false }

// No adapter is asked for the files of a process whose home is not ours: it would open them.
func TestAForeignHomeIsNotWatched(t *testing.T) {
	w := &Scanner{Adapters: []Adapter{watchful{}}}
	for _, trust := range []Trust{TrustForeign, TrustSeen, TrustOurs} {
		for _, path := range []string{"", "a"} {
			record := Record{Agent: OpenCode, Home: "home", Path: path}
			files := w.WatchPaths(t.Context(), Session{Record: &record, Trust: trust})
			if want := path != "" || trust != TrustForeign; (len(files) > 0) != want {
				t.Errorf("%s, path %q: %q", trust, path, files)
			}
		}
	}
}
