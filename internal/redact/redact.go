// Package redact replaces keys, tokens and passwords in a text by a mark.
//
// It knows them by their shape only: see rules. So it misses what has none, such as a password in a sentence.
package redact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Mark replaces what was found.
const Mark = "[redacted]"

// Redactor replaces secrets. It may be used by one goroutine at a time.
type Redactor struct {
	rules                                []rule
	keyBegin, keyEnd, base64, jsonString *regexp.Regexp
}

func New() *Redactor {
	return &Redactor{
		rules:      rules(),
		keyBegin:   regexp.MustCompile(`-----BEGIN [^-\n]{0,64}PRIVATE KEY[^-\n]{0,64}-----`),
		keyEnd:     regexp.MustCompile(`-----END (?:[^-\n]{0,64}-----)?`),
		base64:     regexp.MustCompile(`^(?:(?:\s|\\[nr]|\d+[→:|\t])*[A-Za-z0-9+/=]{16,})+`), // lines, which may be numbered
		jsonString: regexp.MustCompile(`(?s)"(?:[^"\\]|\\.)*"`),
	}
}

// Text returns a text without secrets.
func (r *Redactor) Text(s string) string {
	s = r.privateKeys(s)
	for i := range r.rules {
		s = r.rules[i].replace(s)
	}
	return s
}

// replace replaces what the rule finds: its first group, or all of it if there is no group.
func (c *rule) replace(s string) string {
	mayMatch := func(s string) bool {
		return slices.ContainsFunc(c.keywords, func(word string) bool { return strings.Contains(s, word) })
	}
	if !mayMatch(s) {
		return s
	}
	if c.compiled == nil {
		c.compiled = regexp.MustCompile(c.pattern)
	}
	var b strings.Builder
	for line := range strings.Lines(s) {
		done := 0
		if mayMatch(line) {
			for _, m := range c.compiled.FindAllStringSubmatchIndex(line, -1) {
				from, to := m[len(m)-2], m[len(m)-1]
				if found := line[from:to]; !c.mixed || strings.ContainsFunc(found, unicode.IsLetter) && strings.ContainsFunc(found, unicode.IsDigit) {
					b.WriteString(line[done:from] + Mark)
					done = to
				}
			}
		}
		b.WriteString(line[done:])
	}
	return b.String()
}

// privateKeys replaces private keys in PEM. A block without an end is replaced as far as it consists of base64. It is no rule, since
// a regular expression would search for the end of each block up to the end of the text.
func (r *Redactor) privateKeys(s string) string {
	var b strings.Builder
	ends := true
	for {
		begin := r.keyBegin.FindStringIndex(s)
		if begin == nil {
			return b.String() + s
		}
		b.WriteString(s[:begin[0]])
		label, body := s[begin[0]:begin[1]], s[begin[1]:]
		var end []int
		if ends {
			end = r.keyEnd.FindStringIndex(body)
			ends = end != nil
		}
		if !ends {
			end = r.base64.FindStringIndex(body)
		}
		if end == nil { // it is only spoken of
			b.WriteString(label)
			s = body
		} else {
			b.WriteString(Mark)
			s = body[end[1]:]
		}
	}
}

// JSON returns a JSON text whose strings, at any place, have no secrets. What is not in strings is unchanged.
func (r *Redactor) JSON(text []byte) []byte {
	return r.jsonString.ReplaceAllFunc(text, func(quoted []byte) []byte {
		var s string
		if json.Unmarshal(quoted, &s) != nil {
			return quoted
		}
		clean := r.Text(s)
		if clean == s {
			return quoted
		}
		out, _ := json.Marshal(clean) // of a string there is no error
		return out
	})
}

// Value returns a value that marshals to JSON and back, without secrets in any of its texts. With r nil it returns the value itself.
func Value[T any](r *Redactor, v T) (T, error) {
	if r == nil {
		return v, nil
	}
	text, err := json.Marshal(v)
	if err != nil {
		return v, fmt.Errorf("redacting: %w", err)
	}
	clean := r.JSON(text)
	if bytes.Equal(clean, text) {
		return v, nil
	}
	var out T
	if err := json.Unmarshal(clean, &out); err != nil {
		return out, fmt.Errorf("redacting: %w", err)
	}
	return out, nil
}
