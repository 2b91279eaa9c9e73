package search

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"agentctl/discover/native/bytepair"
)

// word is a run of letters and digits that a match must contain. JSON writes it in one piece: none of its characters has an
// escape of its own, except a \u escape.
type word struct {
	runes []rune
	fold  bool // in any case
	// pair is the index of the first of two characters of the word that are probably the rarest ones. Each form of them is one byte.
	pair int
}

// MayMatch reports whether a string of this JSON text, once decoded, may have a match. It is true also where a \u escape stands for a
// character of a word.
func (p *Pattern) MayMatch(json []byte) bool {
	return p.words == nil || slices.ContainsFunc(p.words, func(w word) bool { return w.mayBeIn(json) })
}

// caseBit is the bit in which the two cases of an ASCII letter differ.
const caseBit = 'a' ^ 'A'

// mayBeIn reports whether a text contains the word, or a \u escape of one of its characters.
func (w *word) mayBeIn(text []byte) bool {
	pair := bytepair.Pair{First: byte(w.runes[w.pair]), Second: byte(w.runes[w.pair+1]), Ignored: caseBit}
	escape := bytepair.Pair{First: '\\', Second: 'u'}
	for at := 0; ; at++ {
		i := bytepair.Index(text[at:], pair, escape)
		if i < 0 {
			return false
		}
		at += i
		if text[at] == escape.First && w.mayBeEscapedAs(escaped(text[at:])) || w.isAround(text[:at], text[at:]) {
			return true
		}
	}
}

// isAround reports whether one text ends with the word up to its pair, and the other one begins with the rest of it.
func (w *word) isAround(before, after []byte) bool {
	for _, want := range w.runes[w.pair:] {
		r, n := utf8.DecodeRune(after)
		if !w.same(r, want) {
			return false
		}
		after = after[n:]
	}
	for _, want := range slices.Backward(w.runes[:w.pair]) {
		r, n := utf8.DecodeLastRune(before)
		if !w.same(r, want) {
			return false
		}
		before = before[:len(before)-n]
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
