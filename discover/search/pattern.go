package search

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
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
	re    *regexp.Regexp
	group int // of re that is the match
	// words: every match contains at least one of them. nil: no such word is known, and nothing can be skipped.
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
	if o.Words {
		p.group = 1
		const edge = `[^\pL\pN_]`
		text = `(?:\A|` + edge + `)(` + text + `)(?:\z|` + edge + `)`
	}
	p.re, err = regexp.Compile("(?m:" + text + ")")
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
	for from := 0; from <= len(text); {
		at := p.re.FindStringSubmatchIndex(text[from:])
		if at == nil {
			break
		}
		s := Span{from + at[2*p.group], from + at[2*p.group+1]}
		if from = s.End; s.Start == s.End {
			from++
			continue
		}
		spans = append(spans, s)
	}
	return spans
}
