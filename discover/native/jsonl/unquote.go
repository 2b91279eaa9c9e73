package jsonl

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// unquote decodes the bytes between the quotes of a string literal, at most limit characters (0: all). encoding/json
// cannot stop there; using it takes a fifth of the time, and a third of the memory, of `list -a` of 10,000 sessions of
// Claude Code.
func unquote(b []byte, limit int) string {
	if (limit == 0 || len(b) <= limit) && bytes.IndexByte(b, '\\') < 0 && utf8.Valid(b) {
		return string(b)
	}
	var room [320]byte // most texts are short
	out := room[:0]
	for n := 0; len(b) > 0 && (limit == 0 || n < limit); n++ {
		if c := b[0]; c != '\\' && c < utf8.RuneSelf {
			out, b = append(out, c), b[1:]
			continue
		}
		r, size := character(b)
		out, b = utf8.AppendRune(out, r), b[size:]
	}
	return string(out)
}

// character decodes the first character of b and returns its length in bytes. An invalid escape is [utf8.RuneError].
func character(b []byte) (rune, int) {
	if b[0] != '\\' {
		return utf8.DecodeRune(b)
	}
	if len(b) == 1 {
		return utf8.RuneError, 1
	}
	switch b[1] {
	case 'n':
		return '\n', 2
	case 't':
		return '\t', 2
	case 'r':
		return '\r', 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'u':
		r := hex4(b[2:])
		if r < 0 {
			return utf8.RuneError, 2
		}
		if len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
			if pair := utf16.DecodeRune(r, hex4(b[8:])); pair != utf8.RuneError {
				return pair, 12
			}
		}
		return r, 6 // half of a pair becomes U+FFFD
	}
	return rune(b[1]), 2 // \" \\ \/
}

// hex4 parses four hexadecimal digits; -1 if b does not start with them.
func hex4(b []byte) rune {
	if len(b) < 4 {
		return -1
	}
	n, err := strconv.ParseUint(string(b[:4]), 16, 32)
	if err != nil {
		return -1
	}
	return rune(n)
}
