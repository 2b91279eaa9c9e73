package discover

import (
	"context"
	"iter"
)

// ContentFilter is implemented by adapters that can rule sessions out of a search without decoding their messages.
type ContentFilter interface {
	// FilterContent yields those of the entries, in any order, whose messages may contain what is searched for. match gets the
	// JSON text of messages as it is stored, in pieces of any length, and reports whether a piece may have it: whether one of
	// its strings, once decoded, may contain a certain word. Where a message joins strings, the adapter yields the session. It
	// yields too what it cannot read: who reads its messages says so. match is called concurrently.
	FilterContent(ctx context.Context, entries []Entry, match func(json []byte) bool) iter.Seq[Entry]
}
