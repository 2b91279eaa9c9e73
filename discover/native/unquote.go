package native

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// unquote decodes what stands between the quotes of a string literal, at most limit characters (0: all).
func unquote(b []byte, limit int) string {
	left := len(b) // characters, at most
	if limit > 0 {
		left = min(left, limit)
	}
	n := plain(b[:left])
	if n == left {
		return string(b[:n])
	}
	if left == len(b) && bytes.IndexByte(b[n:], '\\') < 0 && utf8.Valid(b[n:]) {
		return string(b)
	}
	var room [320]byte // most texts are short, and it has to be cleared
	for out := room[:0]; ; n = plain(b[:min(len(b), left)]) {
		out, b, left = append(out, b[:n]...), b[n:], left-n
		if len(b) == 0 || left == 0 {
			return string(out)
		}
		r, size := character(b)
		out, b, left = utf8.AppendRune(out, r), b[size:], left-1
	}
}

// plain is how many bytes of b, from its beginning, stand for themselves.
func plain(b []byte) int {
	for i, c := range b {
		if c == '\\' || c >= utf8.RuneSelf {
			return i
		}
	}
	return len(b)
}

// character decodes the first character of b and returns how many bytes it takes.
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
		r, ok := hex4(b[2:])
		if !ok {
			return utf8.RuneError, 2
		}
		if utf16.IsSurrogate(r) {
			if low, ok := lowHalf(b[6:]); ok {
				if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
					return pair, 12
				}
			}
			return utf8.RuneError, 6
		}
		return r, 6
	}
	return rune(b[1]), 2 // \" \\ \/
}

func lowHalf(b []byte) (rune, bool) {
	if len(b) < 2 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	return hex4(b[2:])
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}
