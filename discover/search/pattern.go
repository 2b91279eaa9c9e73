package search

import (
	"regexp"
	"regexp/syntax"
	"slices"
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
}

// Compile compiles a regular expression in RE2 syntax, in which ^ and $ match at the ends of lines. The error says what is wrong
// with it.
func Compile(text string, o PatternOptions) (*Pattern, error) {
	if o.Literal {
		text = regexp.QuoteMeta(text)
	}
	const flags = syntax.Perl &^ syntax.OneLine
	tree, err := syntax.Parse(text, flags)
	if err != nil {
		return nil, err
	}
	if o.IgnoreCase || !hasCapital(tree) {
		text = "(?i:" + text + ")"
		if tree, err = syntax.Parse(text, flags); err != nil {
			return nil, err
		}
	}
	p := &Pattern{words: requiredWords(tree.Simplify())}
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
