package native

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// unquote decodes what stands between the quotes of a string literal, at most limit characters (0: all). Bytes that are no UTF-8
// become U+FFFD. It is "" if an escape, or a control character, is one that JSON does not have.
func unquote(b []byte, limit int) string {
	if limit > 0 {
		b = beginning(b, limit)
	}
	if bytes.IndexByte(b, '\\') >= 0 || !utf8.Valid(b) {
		quoted := append(append([]byte{'"'}, b...), '"')
		var text string
		if json.Unmarshal(quoted, &text) != nil {
			return ""
		}
		return firstCharacters(text, limit)
	}
	return firstCharacters(string(b), limit)
}

// beginning is as much of a literal as holds its first characters, and does not end inside of an escape that belongs to them: a
// transcript may hold megabytes of text, of which a title is wanted.
func beginning(b []byte, limit int) []byte {
	const longest = len(`\ud83d\ude00`) // of what stands for one character
	n := longest * (limit + 1)
	if len(b) <= n {
		return b
	}
	b = b[:n]
	last := bytes.LastIndexByte(b, '\\')
	if last < n-longest {
		return b
	}
	escapes := len(b[:last+1]) - len(bytes.TrimRight(b[:last+1], `\`))
	if escapes%2 == 0 {
		return b
	}
	return b[:last]
}

// firstCharacters is at most limit characters of a text (0: all).
func firstCharacters(text string, limit int) string {
	if limit <= 0 || len(text) <= limit {
		return text
	}
	n := 0
	for i := range text {
		if n++; n > limit {
			return strings.Clone(text[:i]) // not to keep the rest in memory
		}
	}
	return text
}
