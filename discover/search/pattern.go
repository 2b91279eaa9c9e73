package search

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// PatternOptions say how the text of a pattern is understood.
type PatternOptions struct {
	// Literal: the pattern is a text, not a regular expression.
	Literal bool
	// IgnoreCase: letters match in both cases. Without it they do if the pattern has no capital letter.
	IgnoreCase bool
	// Words: a match must not begin or end inside a word. A word consists of letters, digits and _.
	Words bool
}

// Pattern is a compiled search pattern.
type Pattern struct {
	// first finds the first match in a text. next finds another one in the rest of it, which begins with the character before the
	// place where the search goes on: ^, \b and \B look at it. The match is group 1.
	first, next *regexp.Regexp
	// words: every match contains at least one of them, in any case. nil: no such word is known, and nothing can be skipped.
	words []word
	// CaseSensitive: letters match in their own case only, since the pattern has a capital letter.
	CaseSensitive bool
}

// Compile compiles regular expressions in RE2 syntax, in which ^ and $ match at the ends of lines, to a pattern that matches what any
// of them matches. The error says what is wrong with them.
func Compile(o PatternOptions, texts ...string) (*Pattern, error) {
	const flags = syntax.Perl &^ syntax.OneLine
	var parts []string
	for _, text := range texts {
		if o.Literal {
			text = regexp.QuoteMeta(text)
		} else if _, err := syntax.Parse(text, flags); err != nil { // alone: no parenthesis closes another pattern's
			return nil, err
		}
		parts = append(parts, "(?:"+text+")")
	}
	text := strings.Join(parts, "|")
	tree, err := syntax.Parse(text, flags)
	if err != nil {
		return nil, err
	}
	caseSensitive := !o.IgnoreCase && hasCapital(tree)
	if !caseSensitive {
		text = "(?i:" + text + ")"
		if tree, err = syntax.Parse(text, flags); err != nil {
			return nil, err
		}
	}
	p := &Pattern{words: requiredWords(tree.Simplify()), CaseSensitive: caseSensitive}
	text = "(" + text + ")"
	if o.Words {
		const edge = `[^\pL\pN_]`
		text = `(?:\A|` + edge + `)` + text + `(?:\z|` + edge + `)`
	}
	text = "(?m:" + text + ")"
	if p.first, err = regexp.Compile(text); err != nil {
		return nil, err
	}
	p.next, err = regexp.Compile(`\A(?s:..*?)` + text)
	return p, err
}

// hasCapital reports whether a regular expression has a capital letter that stands for itself, unlike those of \S and [A-Z].
func hasCapital(re *syntax.Regexp) bool {
	if re.Op == syntax.OpLiteral && strings.ContainsFunc(string(re.Rune), unicode.IsUpper) {
		return true
	}
	return slices.ContainsFunc(re.Sub, hasCapital)
}

// Span is a part of a text: the bytes from Start up to End.
type Span struct{ Start, End int }

// Find returns the matches in a text, without those that overlap an earlier one and without empty ones.
func (p *Pattern) Find(text string) (spans []Span) {
	if !p.MayMatch([]byte(text)) {
		return nil
	}
	re, from := p.first, 0
	for {
		at := re.FindStringSubmatchIndex(text[from:])
		if at == nil {
			return spans
		}
		s := Span{from + at[2], from + at[3]}
		if s.Start < s.End {
			spans = append(spans, s)
			_, n := utf8.DecodeLastRuneInString(text[s.Start:s.End])
			from = s.End - n
		} else {
			from = s.End // the next match begins behind the next character
		}
		re = p.next
	}
}

// MayMatch reports whether a string of this JSON text, once decoded, may have a match. It ignores the case of letters. It is true also
// where a character that a word can have is written as an escape.
func (p *Pattern) MayMatch(json []byte) bool {
	return p.words == nil || slices.ContainsFunc(p.words, func(w word) bool { return w.isIn(json) }) || hasEscape(json)
}

// word is a run of ASCII letters and digits, in lower case. JSON writes it in one piece, except for \u escapes.
type word struct {
	text []byte
	// rarest is the index of the character that is probably the rarest one.
	rarest int
}

func newWord(text string) word {
	// Letters and digits, those first that occur most often in transcripts.
	const byFrequency = "etrnsaioclduf1p0y2b4h3g5m6789wxvkqjz"
	w := word{text: []byte(strings.ToLower(text))}
	for i, c := range w.text {
		if strings.IndexByte(byFrequency, c) > strings.IndexByte(byFrequency, w.text[w.rarest]) {
			w.rarest = i
		}
	}
	return w
}

// isIn reports whether a text may contain the word in any case. To find one character is much faster than to find a text in any case.
func (w word) isIn(text []byte) bool {
	rarest := w.text[w.rarest:][:1]
	for _, c := range [][]byte{rarest, bytes.ToUpper(rarest)} {
		for at := 0; ; at++ {
			i := bytes.IndexByte(text[at:], c[0])
			if i < 0 {
				break
			}
			at += i
			begin := at - w.rarest
			if end := begin + len(w.text); begin >= 0 && end <= len(text) && bytes.EqualFold(text[begin:end], w.text) {
				return true
			}
		}
	}
	has := func(ascii byte, other rune) bool {
		return bytes.IndexByte(w.text, ascii) >= 0 && bytes.ContainsRune(text, other)
	}
	return has('s', longS) || has('k', kelvin)
}

// Letters outside of ASCII that are other cases of ASCII letters.
const (
	longS  = '\u017f' // of s
	kelvin = '\u212a' // of k
)

// hasEscape reports whether a text has a \u escape of a character that a word can have.
func hasEscape(text []byte) bool {
	for {
		text = text[withoutEscape(text):]
		_, rest, found := bytes.Cut(text, []byte(`\u`))
		if !found {
			return false
		}
		code, err := strconv.ParseUint(string(rest[:min(4, len(rest))]), 16, 16)
		if r := rune(code); err == nil && (isWordCharacter(r) || r == longS || r == kelvin) {
			return true
		}
		text = rest
	}
}

// withoutEscape returns how many bytes at the beginning of a text can be skipped, since no \u begins in them. It compares 32 pairs of bytes at a
// time: bytes.Index stops at each backslash, and a search of files takes 16 % longer.
func withoutEscape(text []byte) (n int) {
	for ; n+33 <= len(text); n += 32 {
		pairs := text[n : n+33 : n+33]
		if escapes(pairs[0:9])|escapes(pairs[8:17])|escapes(pairs[16:25])|escapes(pairs[24:33]) != 0 {
			break
		}
	}
	return n
}

// escapes is not 0 if \u begins in the first eight of nine bytes: where it does, a byte of differences is zero.
func escapes(b []byte) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	differences := (binary.LittleEndian.Uint64(b) ^ '\\'*ones) | (binary.LittleEndian.Uint64(b[1:]) ^ 'u'*ones)
	return (differences - ones) &^ differences & highs
}

// isWordCharacter reports whether a character is an ASCII letter or digit.
func isWordCharacter(r rune) bool {
	return '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z'
}

// requiredWords returns words one of which every match contains, in any case; nil if there are none.
func requiredWords(re *syntax.Regexp) []word {
	switch re.Op {
	case syntax.OpLiteral:
		if text := longestWord(string(re.Rune)); len(text) > 1 {
			return []word{newWord(text)}
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
	if len(words) == 0 {
		return 0
	}
	return len(slices.MinFunc(words, func(a, b word) int { return len(a.text) - len(b.text) }).text)
}

// longestWord returns the longest run of ASCII letters and digits in a text.
func longestWord(text string) string {
	parts := strings.FieldsFunc(text, func(r rune) bool { return !isWordCharacter(r) })
	return slices.MaxFunc(append(parts, ""), func(a, b string) int { return len(a) - len(b) })
}
