package output

import (
	"cmp"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sanitize makes untrusted text safe for one line of a terminal. It removes control characters, whole escape
// sequences, and characters that reorder or hide text. It replaces each run of white space, line breaks included,
// with one blank, and each byte that is not UTF-8 with U+FFFD. It is idempotent: Sanitize(Sanitize(s)) ==
// Sanitize(s).
func Sanitize(s string) string {
	var b strings.Builder
	blank := false // white space precedes the next character
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

// SanitizeLines is [Sanitize] for text of several lines: it keeps blanks and tabs, and turns every line break into
// a line feed.
func SanitizeLines(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	var last rune
	for r := range safeRunes(s) {
		switch {
		case r == '\n' && last == '\r': // CR LF is one line break
		case r == '\t', !unicode.IsSpace(r), unicode.Is(unicode.Zs, r):
			b.WriteRune(r)
		default:
			b.WriteByte('\n')
		}
		last = r
	}
	return b.String()
}

// safeRunes yields the printable characters of s, and its white space unchanged. It yields a joiner only between
// two characters that it can join.
func safeRunes(s string) iter.Seq[rune] {
	return func(yield func(rune) bool) {
		var last, pending rune // the last character yielded; a joiner that waits for the next character
		for len(s) > 0 {
			if c := s[0]; ' ' <= c && c <= '~' { // fast path: most text is ASCII
				if !yield(rune(c)) {
					return
				}
				s, pending, last = s[1:], 0, rune(c)
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
				pending = cmp.Or(pending, r)
				continue
			case isUnsafe(r) && !unicode.IsSpace(r):
				continue
			case pending != 0 && isJoinable(last) && isJoinable(r) && !yield(pending), !yield(r):
				return
			}
			pending, last = 0, r
		}
	}
}

// isJoiner reports whether r is ZERO WIDTH NON-JOINER or ZERO WIDTH JOINER. Emoji and some scripts need them.
func isJoiner(r rune) bool { return r == '\u200c' || r == '\u200d' }

// isJoinable reports whether r may be next to a joiner. In Latin text a joiner can only hide something.
func isJoinable(r rune) bool {
	return r > unicode.MaxLatin1 && !unicode.Is(unicode.Latin, r) && !unicode.IsSpace(r)
}

// isUnsafe reports whether a character must not reach a terminal, because it has an effect instead of a glyph or
// hides text.
func isUnsafe(r rune) bool {
	switch {
	case unicode.IsControl(r), // C0, DEL, C1
		unicode.Is(unicode.Cf, r),                            // bidi, zero width, soft hyphen, tags, BOM
		unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r), // line and paragraph separators
		unicode.Is(unicode.Co, r), unicode.Is(unicode.Cs, r),
		unicode.Is(unicode.Noncharacter_Code_Point, r),
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r),              // invisible fillers
		unicode.Is(unicode.Variation_Selector, r) && r != emojiVariantSelector: // invisible as well
		return true
	}
	return false
}

// emojiVariantSelector selects the emoji form, which is wider, of the character before it.
const emojiVariantSelector = '\ufe0f'

// escapeSequenceLen returns the length of the escape sequence at the start of s (ECMA-48), or 0 if there is none:
// CSI with its parameters, a control string (OSC, DCS, APC, PM, SOS) up to its terminator, or a two-character
// sequence, each in its 7-bit or its 8-bit form. An unterminated sequence ends at the end of the text, or before
// the next control character, which may begin another sequence.
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

// parseIntroducer returns the kind of the sequence, as the second character of its 7-bit form, and the offset of
// its content.
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

// controlSequenceLen returns the end of a CSI sequence: parameter bytes 0x20–0x3f, then one final byte 0x40–0x7e.
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

// controlStringLen returns the end of a control string: BEL or ST. An unterminated string ends at the end of its
// line, so that it cannot hide the rest of the text.
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
