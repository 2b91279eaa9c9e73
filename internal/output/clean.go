package output

import (
	"cmp"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sanitize makes text from a transcript safe for one line of a terminal: it holds no control character, escape
// sequence, line break, or character that reorders or hides text around it. Escape sequences go as a whole, white
// space of any kind becomes one blank, and bytes that are no UTF-8 become U+FFFD. Sanitize(Sanitize(s)) == Sanitize(s).
func Sanitize(s string) string {
	if isPlainASCII(s) {
		return s
	}
	var b strings.Builder
	blank := false // one is owed to the next character
	for r := range safeRunes(s) {
		if unicode.IsSpace(r) {
			blank = b.Len() > 0
			continue
		}
		if blank {
			b.WriteByte(' ')
		}
		blank = false
		b.WriteRune(r)
	}
	return b.String()
}

// SanitizeLines is [Clean] for a text of several lines: blanks, tabs and line breaks stay. Whatever breaks a line is a line
// feed afterwards.
func SanitizeLines(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	var last rune
	for r := range safeRunes(s) {
		switch {
		case r == '\n' && last == '\r': // they are one
		case r == '\t', !unicode.IsSpace(r), unicode.Is(unicode.Zs, r):
			b.WriteRune(r)
		default:
			b.WriteByte('\n')
		}
		last = r
	}
	return b.String()
}

// safeRunes yields the characters by which a text shows itself, and its white space as it is. A joiner is among them only
// where it stands between two that it may join.
func safeRunes(s string) iter.Seq[rune] {
	return func(yield func(rune) bool) {
		var last, owed rune // the last character yielded; a joiner that the next one may need
		for len(s) > 0 {
			if c := s[0]; ' ' <= c && c <= '~' { // as most are: it begins nothing, and joins with nothing
				if !yield(rune(c)) {
					return
				}
				s, owed, last = s[1:], 0, rune(c)
				continue
			}
			if n := escapeSequenceLen(s); n > 0 {
				s = s[n:]
				continue
			}
			r, size := utf8.DecodeRuneInString(s) // U+FFFD for an invalid byte
			s = s[size:]
			switch {
			case isJoiner(r):
				owed = cmp.Or(owed, r)
				continue
			case isUnsafe(r) && !unicode.IsSpace(r):
				continue
			case owed != 0 && isJoinable(last) && isJoinable(r) && !yield(owed), !yield(r):
				return
			}
			owed, last = 0, r
		}
	}
}

// isJoiner reports whether r is one of the two zero-width characters that emoji and some scripts are spelt with.
func isJoiner(r rune) bool { return r == '\u200c' || r == '\u200d' }

// isJoinable reports whether a joiner may stand beside r. In Latin text it could only hide.
func isJoinable(r rune) bool {
	return r > unicode.MaxLatin1 && !unicode.Is(unicode.Latin, r) && !unicode.IsSpace(r)
}

// isPlainASCII reports whether s is printable ASCII with single blanks inside, as most text is.
func isPlainASCII(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c > '~' || c == ' ' && (i == 0 || i == len(s)-1 || s[i+1] == ' ') {
			return false
		}
	}
	return true
}

// isUnsafe reports whether a character must not reach a terminal: it acts instead of showing, or hides what stands
// there.
func isUnsafe(r rune) bool {
	switch {
	case unicode.IsControl(r), // C0, DEL, C1
		unicode.Is(unicode.Cf, r),                            // bidi, zero width, soft hyphen, tags, BOM
		unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r), // line and paragraph separators
		unicode.Is(unicode.Co, r), unicode.Is(unicode.Cs, r),
		unicode.Is(unicode.Noncharacter_Code_Point, r),
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r),              // fillers that look like nothing
		unicode.Is(unicode.Variation_Selector, r) && r != emojiVariantSelector: // so do these
		return true
	}
	return false
}

// emojiVariantSelector asks for the emoji form of the character before it, which is wider.
const emojiVariantSelector = '\ufe0f'

// escapeSequenceLen is the length of the escape sequence that s begins with (ECMA-48): CSI with its parameters, a string
// (OSC, DCS, APC, PM, SOS) up to its end, or a two-character one; in their 7-bit and their 8-bit form. It is 0 if
// there is none. An unfinished one ends with the text or at the next control character, which may begin another.
func escapeSequenceLen(s string) int {
	kind, start, ok := parseIntroducer(s)
	if !ok {
		return 0
	}
	switch kind {
	case '[':
		return controlSequenceLen(s, start)
	case ']', 'P', '_', '^', 'X':
		return controlStringLen(s, start)
	}
	return start
}

// parseIntroducer returns which kind of sequence begins, as the second character of its 7-bit form, and where its
// content starts.
func parseIntroducer(s string) (kind rune, start int, ok bool) {
	r, size := utf8.DecodeRuneInString(s)
	if r == '\x1b' {
		next, n := utf8.DecodeRuneInString(s[size:])
		if next < 0x20 || next > 0x7e {
			return 0, size, true // a lone ESC
		}
		return next, size + n, true
	}
	if r >= 0x80 && r <= 0x9f {
		return r - 0x40, size, true
	}
	return 0, 0, false
}

// controlSequenceLen finds the end of a CSI sequence: parameter bytes 0x20–0x3f, then one final byte 0x40–0x7e.
func controlSequenceLen(s string, i int) int {
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 0x40 && c <= 0x7e:
			return i + 1
		case c < 0x20 || c > 0x7e:
			return i
		}
	}
	return i
}

// controlStringLen finds the end of a control string: BEL or ST. One without an end runs to the end of its line
// only, so that it cannot swallow a whole text.
func controlStringLen(s string, i int) int {
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\a', r == 0x9c:
			return i + size
		case r == '\x1b' && strings.HasPrefix(s[i+size:], `\`):
			return i + size + 1
		case r == '\x1b', r == '\n', r == '\r':
			return i
		}
		i += size
	}
	return i
}
