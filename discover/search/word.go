package search

import (
	"bytes"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// word is a run of letters and digits that a match must contain. JSON writes it in one piece: none of its characters has an
// escape of its own, except a \u escape.
type word struct {
	runes []rune
	fold  bool // in any case
	// anchor is the rarest character of the word among those whose every form is one byte: lower and upper.
	anchor       int
	lower, upper byte
}

// MayMatch reports whether a string of this JSON text, once decoded, may have a match. It is true also where a \u escape may
// stand for a character of a match.
func (p *Pattern) MayMatch(json []byte) bool {
	return p.words == nil || slices.ContainsFunc(p.words, func(w word) bool { return w.in(json) || w.escapedIn(json) })
}

// mayMatchText is MayMatch for a decoded text.
func (p *Pattern) mayMatchText(text string) bool {
	return p.words == nil || slices.ContainsFunc(p.words, func(w word) bool { return w.in([]byte(text)) })
}

// in reports whether a text contains the word.
func (w *word) in(text []byte) bool {
	nextLower, nextUpper := -1, len(text)
	if w.upper != w.lower {
		nextUpper = -1
	}
	for at := 0; ; at++ {
		nextLower = nextByte(text, w.lower, at, nextLower)
		nextUpper = nextByte(text, w.upper, at, nextUpper)
		if at = min(nextLower, nextUpper); at == len(text) {
			return false
		}
		if w.matchesAt(text, at) {
			return true
		}
	}
}

// nextByte returns the first place of c in text at or after from, or the length of text if there is none. known is an earlier
// result, -1 if there is none.
func nextByte(text []byte, c byte, from, known int) int {
	if known >= from {
		return known
	}
	if i := bytes.IndexByte(text[from:], c); i >= 0 {
		return from + i
	}
	return len(text)
}

// matchesAt reports whether a text contains the word with its anchor at this place.
func (w *word) matchesAt(text []byte, at int) bool {
	rest := text[:at]
	for _, want := range slices.Backward(w.runes[:w.anchor]) {
		r, n := utf8.DecodeLastRune(rest)
		if !w.same(r, want) {
			return false
		}
		rest = rest[:len(rest)-n]
	}
	rest = text[at+1:]
	for _, want := range w.runes[w.anchor+1:] {
		r, n := utf8.DecodeRune(rest)
		if !w.same(r, want) {
			return false
		}
		rest = rest[n:]
	}
	return true
}

// same reports whether a character of a text matches one of the word.
func (w *word) same(r, want rune) bool {
	if r == want || !w.fold {
		return r == want
	}
	if r < utf8.RuneSelf && want < utf8.RuneSelf {
		return unicode.ToLower(r) == unicode.ToLower(want)
	}
	for f := unicode.SimpleFold(want); f != want; f = unicode.SimpleFold(f) {
		if r == f {
			return true
		}
	}
	return false
}

// escapedIn reports whether a JSON text has a \u escape that may stand for a character of the word. In JSON inside of a string the
// backslash of an escape is escaped too.
func (w *word) escapedIn(json []byte) bool {
	for {
		i := bytes.IndexByte(json, '\\')
		if i < 0 {
			return false
		}
		if json = json[i+1:]; len(json) < len("u0000") || json[0] != 'u' {
			continue
		}
		code, err := strconv.ParseUint(string(json[1:5]), 16, 16)
		if err == nil && slices.ContainsFunc(w.runes, func(want rune) bool { return w.same(rune(code), want) || isSurrogate(code) && want > 0xffff }) {
			return true
		}
	}
}

// isSurrogate reports whether a \u escape is one of the two that stand for a character beyond the first 65,536.
func isSurrogate(code uint64) bool { return 0xd800 <= code && code < 0xe000 }

// requiredWords returns words one of which every match contains; nil if there are none.
func requiredWords(re *syntax.Regexp) []word {
	switch re.Op {
	case syntax.OpLiteral:
		if w, ok := longestWord(re.Rune, re.Flags&syntax.FoldCase != 0); ok {
			return []word{w}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return requiredWords(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return requiredWords(re.Sub[0])
		}
	case syntax.OpConcat: // the longest is probably the rarest
		var best []word
		for _, sub := range re.Sub {
			if words := requiredWords(sub); shortest(words) > shortest(best) {
				best = words
			}
		}
		return best
	case syntax.OpAlternate:
		var all []word
		for _, sub := range re.Sub {
			words := requiredWords(sub)
			if words == nil {
				return nil
			}
			all = append(all, words...)
		}
		return all
	}
	return nil
}

// shortest returns the length of the shortest word; 0 if there is none.
func shortest(words []word) int {
	n := 0
	for _, w := range words {
		if n == 0 || len(w.runes) < n {
			n = len(w.runes)
		}
	}
	return n
}

// longestWord returns the longest word in a text that has an anchor.
func longestWord(text []rune, fold bool) (best word, ok bool) {
	isSeparator := func(r rune) bool {
		return r == unicode.ReplacementChar || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}
	for _, part := range strings.FieldsFunc(string(text), isSeparator) {
		w := word{runes: []rune(part), fold: fold}
		if w.setAnchor() && len(w.runes) > len(best.runes) {
			best, ok = w, true
		}
	}
	return best, ok
}

// byFrequency are letters and digits, those first that occur most often in transcripts.
const byFrequency = "etrnsaioclduf1p0y2b4h3g5m6789wxvkqjz"

// setAnchor chooses the anchor. It is not ok if there is none: with fold, k and s have forms of several bytes.
func (w *word) setAnchor() (ok bool) {
	best := -1
	for i, r := range w.runes {
		lower := unicode.ToLower(r)
		rank := strings.IndexRune(byFrequency, lower)
		if rank <= best || r >= utf8.RuneSelf || w.fold && (lower == 'k' || lower == 's') {
			continue
		}
		best, ok, w.anchor, w.lower, w.upper = rank, true, i, byte(r), byte(r)
		if w.fold {
			w.lower, w.upper = byte(lower), byte(unicode.ToUpper(r))
		}
	}
	return ok
}
