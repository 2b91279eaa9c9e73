// Package redact replaces keys, tokens and passwords in a text by a mark.
//
// It knows them by their shape only: see rules. So it misses what has none, such as a password in a sentence.
package redact

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Mark replaces what was found.
const Mark = "[redacted]"

// Redactor replaces secrets. It may be used by one goroutine at a time.
type Redactor struct{ rules []compiledRule }

// compiledRule is a rule that compiles its expression when a text first has one of its keywords.
type compiledRule struct {
	rule
	re *regexp.Regexp
}

func New() *Redactor {
	r := &Redactor{}
	for _, rule := range rules() {
		r.rules = append(r.rules, compiledRule{rule: rule})
	}
	return r
}

// Text returns a text without secrets.
func (r *Redactor) Text(s string) string {
	s = privateKeys(s)
	for i := range r.rules {
		s = r.rules[i].replace(s)
	}
	return s
}

func (c *compiledRule) replace(s string) string {
	if !c.mayMatch(s) {
		return s
	}
	if c.re == nil {
		c.re = regexp.MustCompile(c.pattern)
	}
	var b strings.Builder
	for line := range strings.Lines(s) {
		c.replaceInLine(&b, line)
	}
	return b.String()
}

func (c *compiledRule) mayMatch(s string) bool {
	return slices.ContainsFunc(c.keywords, func(word string) bool { return strings.Contains(s, word) })
}

// replaceInLine writes a line without what the rule finds: its first group, or all of it if there is no group.
func (c *compiledRule) replaceInLine(b *strings.Builder, line string) {
	done := 0
	if c.mayMatch(line) {
		for _, m := range c.re.FindAllStringSubmatchIndex(line, -1) {
			from, to := m[len(m)-2], m[len(m)-1]
			if c.mixed && !isMixed(line[from:to]) {
				continue
			}
			b.WriteString(line[done:from] + Mark)
			done = to
		}
	}
	b.WriteString(line[done:])
}

// isMixed reports whether a text has letters and digits: most names and most numbers have not.
func isMixed(s string) bool {
	return strings.ContainsFunc(s, unicode.IsLetter) && strings.ContainsFunc(s, unicode.IsDigit)
}

// JSON returns a JSON text whose strings, at any place, have no secrets. It returns the same text if it
// finds none. What is not in strings is unchanged.
func (r *Redactor) JSON(text []byte) []byte {
	var out []byte
	done := 0
	for i := bytes.IndexByte(text, '"'); i >= 0 && i < len(text); {
		end := stringEnd(text, i)
		var s string
		if err := json.Unmarshal(text[i:end], &s); err == nil {
			if clean := r.Text(s); clean != s {
				quoted, _ := json.Marshal(clean) // of a string there is no error
				out = append(append(out, text[done:i]...), quoted...)
				done = end
			}
		}
		next := bytes.IndexByte(text[end:], '"')
		if next < 0 {
			break
		}
		i = end + next
	}
	if done == 0 {
		return text
	}
	return append(out, text[done:]...)
}

// stringEnd returns the end of the JSON string that begins at i.
func stringEnd(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}
