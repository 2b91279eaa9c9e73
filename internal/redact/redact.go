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

// rule describes one shape of a secret.
type rule struct {
	// name is the rule of gitleaks (config/gitleaks.toml) that has this shape, or describes it.
	name string
	// keywords: a line with none of them has no match. They are compared as they are, which is much faster than the pattern.
	keywords []string
	// pattern is a regular expression for a part of one line. Its last group is replaced, or all of it if it has none.
	pattern string
	// mixed: only what has letters and digits is replaced.
	mixed bool
	// compiled is the pattern; nil until a text has one of the keywords.
	compiled *regexp.Regexp
}

// rules returns all rules but that of private keys, which need no keyword. The order matters where one key is the prefix of another.
func rules() []rule {
	return []rule{
		{name: "anthropic-api-key", keywords: []string{"sk-ant-"}, pattern: `sk-ant-[A-Za-z0-9_-]{16,}`},
		{name: "openai-api-key", keywords: []string{"sk-"}, pattern: `\bsk-[A-Za-z0-9_-]{20,}`, mixed: true},
		{name: "github-pat", keywords: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"}, pattern: `gh[pousr]_[A-Za-z0-9]{30,}`},
		{name: "github-fine-grained-pat", keywords: []string{"github_pat_"}, pattern: `github_pat_[A-Za-z0-9_]{20,}`},
		{name: "gitlab-pat", keywords: []string{"glpat-", "gldt-", "glrt-", "glptt-"}, pattern: `gl(?:pat|dt|rt|ptt)-[A-Za-z0-9_-]{20,}`},
		{name: "aws-access-token", keywords: []string{"AKIA", "ASIA", "ABIA", "ACCA"}, pattern: `\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b`},
		{name: "aws-secret-access-key", keywords: []string{"ecret", "ECRET"}, pattern: `(?i)aws_?secret_?(?:access_?)?key["']?\s*[:=]\s*["']?([A-Za-z0-9/+=]{40})`},
		{name: "gcp-api-key", keywords: []string{"AIza"}, pattern: `AIza[A-Za-z0-9_-]{35}`},
		{name: "google OAuth token", keywords: []string{"ya29."}, pattern: `ya29\.[A-Za-z0-9_-]{20,}`},
		{name: "google OAuth client secret", keywords: []string{"GOCSPX-"}, pattern: `GOCSPX-[A-Za-z0-9_-]{20,}`},
		{name: "slack-bot-token", keywords: []string{"xox"}, pattern: `xox[abeoprs]-[A-Za-z0-9-]{10,}`},
		{name: "slack-app-token", keywords: []string{"xapp-"}, pattern: `xapp-[A-Za-z0-9-]{10,}`},
		{name: "slack-webhook-url", keywords: []string{"hooks.slack.com/"}, pattern: `hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{20,})`},
		{name: "stripe-access-token", keywords: []string{"_live_", "_test_", "_prod_"}, pattern: `\b[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,}`},
		{name: "npm-access-token", keywords: []string{"npm_"}, pattern: `\bnpm_[A-Za-z0-9]{36}`},
		{name: "pypi-upload-token", keywords: []string{"pypi-"}, pattern: `pypi-AgE[A-Za-z0-9_-]{50,}`},
		{name: "huggingface-access-token", keywords: []string{"hf_"}, pattern: `\bhf_[A-Za-z0-9]{30,}`},
		{name: "sendgrid-api-token", keywords: []string{"SG."}, pattern: `\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}`},
		{name: "digitalocean-access-token", keywords: []string{"_v1_"}, pattern: `\bdo[opr]_v1_[a-f0-9]{64}`},
		{name: "telegram-bot-api-token", keywords: []string{":A"}, pattern: `\b[0-9]{8,10}:A[A-Za-z0-9_-]{34}\b`},
		{name: "hashicorp vault-service-token", keywords: []string{"hvs.", "hvb."}, pattern: `\bhv[sb]\.[A-Za-z0-9_-]{24,}`},
		{name: "xAI and Groq keys", keywords: []string{"xai-", "gsk_"}, pattern: `\b(?:xai-|gsk_)[A-Za-z0-9]{40,}`},
		{name: "linear-api-key", keywords: []string{"lin_api_"}, pattern: `lin_api_[A-Za-z0-9]{32,}`},
		{name: "age-secret-key", keywords: []string{"AGE-SECRET-KEY-"}, pattern: `AGE-SECRET-KEY-1[A-Z0-9]{50,}`},
		{name: "jwt", keywords: []string{".ey"}, pattern: `\bey[A-Za-z0-9_-]{10,}\.ey[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*`},
		{
			name: "the header Authorization", keywords: []string{"uthorization", "UTHORIZATION"},
			pattern: `(?i)authorization["']?\s*[:=]\s*["']?(?:(?:bearer|basic|token|digest)\s+)?([^\s"',;)]{8,})`,
		},
		{name: "a bearer token", keywords: []string{"earer", "EARER"}, pattern: `(?i)\bbearer\s+([A-Za-z0-9._~+/=-]{16,})`, mixed: true},
		{name: "the password in a URL", keywords: []string{"://"}, pattern: `://[^\s/:@"'<>]{0,128}:([^\s/@"'<>]{1,256})@`},
		{
			name: "a shell variable with the name of a secret", keywords: []string{"TOKEN=", "SECRET=", "PASSWORD=", "PASSWD=", "KEY="},
			pattern: `(?:TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_KEY|PRIVATE_KEY)=["']?([^\s"'$(){}<>;&|]{8,})`, mixed: true,
		},
	}
}

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
