package discover

import (
	"context"
	"iter"
)

// ContentFilter is implemented by adapters that can rule sessions out of a search without decoding their messages.
type ContentFilter interface {
	// FilterContent yields those of the entries, in any order, whose messages may contain what is searched for. match gets the
	// JSON text of messages as it is stored, in pieces of any length. It reports whether a string of the piece, once decoded, may
	// contain a certain word. The adapter also yields a session if one of its messages is made of several stored strings, since a
	// match may span them, and a session that it cannot read: the later reading of its messages reports why. match is called
	// concurrently.
	FilterContent(ctx context.Context, entries []Entry, match func(json []byte) bool) iter.Seq[Entry]
}
