package discover

import "context"

// ContentFilter is implemented by adapters that can rule sessions out of a search without decoding their messages.
type ContentFilter interface {
	// FilterContent returns those of the entries, in any order, whose messages may contain what is searched for. match gets the JSON text
	// of messages as it is stored, in pieces of any length, with or without other stored bytes around them. It reports whether a string of
	// the piece, once decoded, may contain a certain word. FilterContent also returns a session if one of its messages is made of several
	// stored strings, since a match may span them, and a session that it cannot read: the later reading of its messages reports why. match
	// is called concurrently.
	FilterContent(ctx context.Context, entries []Entry, match func(json []byte) bool) []Entry
}
