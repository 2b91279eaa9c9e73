// Package render formats sessions, processes, locks and worktrees for people and for programs: tables, blocks of
// text, JSON, and Prometheus metrics.
//
// Text from a transcript is untrusted input. [Sanitize] and [SanitizeLines] remove every escape sequence and
// control character before text reaches a terminal. JSON keeps the text, but escapes every character that a
// terminal would interpret.
package render

import (
	"cmp"
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/clipperhouse/displaywidth"
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

// WithoutColor returns a text without its escape sequences.
func WithoutColor(s string) string {
	const c1 = 0xc2 // the first byte of an 8-bit control character
	if strings.IndexByte(s, 0x1b) < 0 && strings.IndexByte(s, c1) < 0 {
		return s
	}
	return escapeSequences().ReplaceAllString(s, "")
}

// escapeSequences matches escape sequences (ECMA-48): CSI with its parameters, a control string (OSC, DCS, APC, PM, SOS) up to its
// terminator, or a two-character sequence, each in its 7-bit or its 8-bit form. An unterminated sequence ends before the next control
// character, which may begin another sequence, and an unterminated string at the end of its line, so that it cannot hide the rest of the text.
var escapeSequences = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("(?:\x1b\\[|\u009b)[ -?]*[@-~]?" +
		"|(?:\x1b[\\]P_^X]|[\u009d\u0090\u009f\u009e\u0098])[^\a\u009c\x1b\n\r]*(?:[\a\u009c]|\x1b\\\\)?" +
		"|\x1b[ -~]?|[\u0080-\u009f]")
})

// safeRunes yields the printable characters of s, and its white space unchanged. It yields a joiner only between
// two characters that it can join.
func safeRunes(s string) iter.Seq[rune] {
	return func(yield func(rune) bool) {
		var last, pending rune              // the last character yielded; a joiner that waits for the next character
		for _, r := range WithoutColor(s) { // U+FFFD for an invalid byte
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
// hides text: controls, formats (bidi, zero width, soft hyphen, tags), separators, private use, invisible fillers and variants.
func isUnsafe(r rune) bool {
	if r < unicode.MaxASCII {
		return r < ' '
	}
	return unicode.In(
		r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs, unicode.Noncharacter_Code_Point,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector,
	) && r != emojiVariantSelector
}

// emojiVariantSelector selects the emoji form, which is wider, of the character before it.
const emojiVariantSelector = '\ufe0f'

// Truncate shortens s to a display width; an ellipsis at its end replaces what is cut off.
func Truncate(s string, width int) string { return truncate(s, width, false) }

// truncate is [Truncate]. With keepEnd, it keeps the end of s and puts the ellipsis at the beginning.
func truncate(s string, width int, keepEnd bool) string {
	if displaywidth.String(s) <= width {
		return s
	}
	if !keepEnd {
		return strings.TrimRight(displaywidth.TruncateString(s, width, ellipsis(width)), " ")
	}
	var starts []int // offsets of the grapheme clusters
	g := displaywidth.StringGraphemes(s)
	for at := 0; g.Next(); at += len(g.Value()) {
		starts = append(starts, at)
	}
	best := ellipsis(width)
	for _, at := range slices.Backward(starts) {
		if displaywidth.String("…"+s[at:]) > width {
			break
		}
		best = "…" + s[at:]
	}
	return best
}

// ellipsis replaces the text that is cut off, if there is room for it.
func ellipsis(width int) string {
	if width < 1 {
		return ""
	}
	return "…"
}

// FitLine truncates and pads a line to a display width. The line may have colours.
func FitLine(line string, width int) string {
	line = displayOptions().TruncateString(line, width, ellipsis(width))
	return line + strings.Repeat(" ", max(0, width-DisplayWidth(line)))
}

// DisplayWidth is the width of a text, which may contain colours.
func DisplayWidth(s string) int { return displayOptions().String(s) }

// displayOptions measure texts that may contain colours.
func displayOptions() displaywidth.Options { return displaywidth.Options{ControlSequences: true} }

// minWrapWidth is the width of the narrowest text. In a narrower terminal, lines are too wide.
const minWrapWidth = 8

// tabStop is the distance between tab stops in columns.
const tabStop = 4

// WrapPlain breaks a line that a command has printed into lines of at most width columns, if it has no colours.
func WrapPlain(line string, width int) []string {
	if strings.Contains(line, "\x1b") || displaywidth.String(line) <= width {
		return []string{line}
	}
	return wrap(line, width)
}

// WrapHanging breaks the text behind a prefix between words into lines, which begin in one column. A word that is longer than a line, such as a path, is
// left to the terminal; the whole text is if there is none (width 0).
func WrapHanging(prefix, text string, width int) string {
	column := DisplayWidth(prefix)
	if width == 0 || column+DisplayWidth(text) <= width {
		return prefix + text
	}
	var b strings.Builder
	b.WriteString(prefix)
	at := column
	for i, word := range strings.Fields(text) {
		room := DisplayWidth(word)
		switch {
		case i > 0 && at+1+room > width && column+room <= width:
			b.WriteString("\n" + strings.Repeat(" ", column))
			at = column
		case i > 0:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at = (at+room-1)%width + 1 // the terminal breaks a word that is too long
	}
	return b.String()
}

// wrap breaks a line into lines of at most width columns, between words if possible. Continuation lines have the
// indentation of the first. The line must be sanitized and contain no line break.
func wrap(line string, width int) (out []string) {
	line = strings.TrimRight(expandTabs(line), " ")
	width = max(width, minWrapWidth)
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	if len(indent) > width/2 {
		indent = ""
	}
	for prefix := ""; ; prefix = indent {
		n := fitLen(line, width-len(prefix))
		out = append(out, prefix+strings.TrimRight(line[:n], " "))
		if line = strings.TrimLeft(line[n:], " "); line == "" {
			return out
		}
	}
}

// fitLen returns how many bytes of s fit into a line: all of s, or up to the end of the last word that fits, or as
// much of the first word as fits. It is never 0.
func fitLen(s string, room int) int {
	at, wordEnd, used := 0, 0, 0 // wordEnd: of the last word that fits
	inWord := false
	for g := displaywidth.StringGraphemes(s); g.Next(); at += len(g.Value()) {
		blank := g.Value() == " "
		if blank && inWord {
			wordEnd = at
		}
		inWord = !blank
		if used += g.Width(); used > room && !blank && at > 0 {
			return cmp.Or(wordEnd, at)
		}
	}
	return len(s)
}

// expandTabs replaces tabs with blanks.
func expandTabs(line string) string {
	var b strings.Builder
	column := 0
	for i, part := range strings.Split(line, "\t") {
		if i > 0 {
			n := tabStop - column%tabStop
			b.WriteString(strings.Repeat(" ", n))
			column += n
		}
		b.WriteString(part)
		column += displaywidth.String(part)
	}
	return b.String()
}

// joinKnown joins the texts that are not empty.
func joinKnown(separator string, texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), separator)
}

// firstLine is the first line that is not blank.
func firstLine(s string) string {
	for line := range strings.Lines(s) {
		if strings.TrimSpace(line) != "" {
			return line
		}
	}
	return ""
}
