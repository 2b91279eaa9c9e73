package search

import (
	"strconv"
	"unicode/utf16"
)

// escapeSize is the number of bytes of a \u escape.
const escapeSize = len(`\u0000`)

// escaped returns the character of the \u escape that a text begins with; -1 if it is none.
func escaped(text []byte) rune {
	if len(text) < escapeSize {
		return -1
	}
	code, err := strconv.ParseUint(string(text[len(`\u`):escapeSize]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(code)
}

// mayBeEscapedAs reports whether a character of the word may be written as this escape, or as a pair of escapes with it.
func (w *word) mayBeEscapedAs(code rune) bool {
	for _, r := range w.runes {
		if w.same(code, r) || utf16.IsSurrogate(code) && utf16.RuneLen(r) > 1 {
			return true
		}
	}
	return false
}
