package jsonl

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf8"
)

// unquote decodes the bytes between the quotes of a string literal, at most limit characters (0: all); "" if they are no literal.
func unquote(b []byte, limit int) string {
	if bytes.IndexByte(b, '\\') >= 0 || !utf8.Valid(b) {
		var text string
		if json.Unmarshal(slices.Concat([]byte{'"'}, b, []byte{'"'}), &text) != nil {
			return ""
		}
		b = []byte(text)
	}
	if limit == 0 || len(b) <= limit {
		return string(b)
	}
	end := 0
	for n := 0; n < limit && end < len(b); n++ {
		_, size := utf8.DecodeRune(b[end:])
		end += size
	}
	return string(b[:end])
}
