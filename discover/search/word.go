package search

import (
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
	// pair is the index of the first of two characters of the word that are probably the rarest ones. Each form of them is one byte.
	pair int
}

// MayMatch reports whether a string of this JSON text, once decoded, may have a match. It is true also where a \u escape may
// stand for a character of a match.
func (p *Pattern) MayMatch(json []byte) bool {
	return p.words == nil || slices.ContainsFunc(p.words, func(w word) bool { return w.mayBeIn(json) })
}

// mayBeIn reports whether a text contains the word, whose characters may be \u escapes.
func (w *word) mayBeIn(text []byte) bool {
	for at := range pairs(text, byte(w.runes[w.pair]), byte(w.runes[w.pair+1])) {
		if text[at] == '\\' && w.pairIsEscapedAt(text[at:]) || w.mayMatchAt(text, at) {
			return true
		}
	}
	return false
}

// mayMatchAt reports whether a text contains the word with its pair at this place, or the part of it up to an escape.
func (w *word) mayMatchAt(text []byte, at int) bool {
	rest := text[at:]
	for _, want := range w.runes[w.pair:] {
		if len(rest) > 0 && rest[0] == '\\' {
			return len(rest) < len(text)-at // the pair itself is not an escape
		}
		r, n := utf8.DecodeRune(rest)
		if !w.same(r, want) {
			return false
		}
		rest = rest[n:]
	}
	rest = text[:at]
	for _, want := range slices.Backward(w.runes[:w.pair]) {
		if n := len(rest); n >= escapeSize && rest[n-escapeSize] == '\\' && rest[n-escapeSize+1] == 'u' {
			return true
		}
		r, n := utf8.DecodeLastRune(rest)
		if !w.same(r, want) {
			return false
		}
		rest = rest[:len(rest)-n]
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

// escapeSize is the number of bytes of a \u escape.
const escapeSize = len(`\u0000`)

// pairIsEscapedAt reports whether a text begins with a \u escape of a character of the pair.
func (w *word) pairIsEscapedAt(text []byte) bool {
	if len(text) < escapeSize {
		return false
	}
	code, err := strconv.ParseUint(string(text[2:escapeSize]), 16, 16)
	return err == nil && (w.same(rune(code), w.runes[w.pair]) || w.same(rune(code), w.runes[w.pair+1]))
}

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

// longestWord returns the longest word in a text that has a pair.
func longestWord(text []rune, fold bool) (best word, ok bool) {
	isSeparator := func(r rune) bool {
		return r == unicode.ReplacementChar || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}
	for _, part := range strings.FieldsFunc(string(text), isSeparator) {
		w := word{runes: []rune(part), fold: fold}
		if w.choosePair() && len(w.runes) > len(best.runes) {
			best, ok = w, true
		}
	}
	return best, ok
}

// byFrequency are letters and digits, those first that occur most often in transcripts.
const byFrequency = "etrnsaioclduf1p0y2b4h3g5m6789wxvkqjz"

// choosePair chooses the pair. It is not ok if there is none: with fold, k and s have forms of several bytes.
func (w *word) choosePair() (ok bool) {
	rank := func(r rune) int {
		if w.fold && strings.ContainsRune("kKsS", r) {
			return -1
		}
		return strings.IndexRune(byFrequency, unicode.ToLower(r))
	}
	best := -1
	for i := range len(w.runes) - 1 {
		first, second := rank(w.runes[i]), rank(w.runes[i+1])
		if both := first + second; first >= 0 && second >= 0 && both > best {
			best, ok, w.pair = both, true, i
		}
	}
	return ok
}
