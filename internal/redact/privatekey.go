package redact

import (
	"regexp"
	"strings"
)

const (
	keyBegin = "-----BEGIN "
	keyEnd   = "-----END "
	dashes   = "-----"
	// maxLabel bounds the label of a PEM block, such as "RSA PRIVATE KEY", in bytes.
	maxLabel = 64
)

// privateKeys replaces private keys in PEM. A block without an end is replaced as far as it consists of base64. It is no rule, since
// a regular expression would search for the end of each block up to the end of the text.
func privateKeys(s string) string {
	var b strings.Builder
	ends := strings.Contains(s, keyEnd)
	for {
		begin := strings.Index(s, keyBegin)
		if begin < 0 {
			return b.String() + s
		}
		body := begin + len(keyBegin)
		label, _, ok := strings.Cut(s[body:min(len(s), body+maxLabel)], dashes)
		if !ok || !strings.Contains(label, "PRIVATE KEY") {
			b.WriteString(s[:body])
			s = s[body:]
			continue
		}
		body += len(label) + len(dashes)
		end := -1
		if ends {
			end = strings.Index(s[body:], keyEnd)
			ends = end >= 0
		}
		b.WriteString(s[:begin])
		switch {
		case end >= 0:
			b.WriteString(Mark)
			s = afterLabel(s[body+end+len(keyEnd):])
		default:
			n := base64Len(s[body:])
			if n == 0 { // it is only spoken of
				b.WriteString(s[begin:body])
			} else {
				b.WriteString(Mark)
			}
			s = s[body+n:]
		}
	}
}

// afterLabel returns what follows the label of an end line.
func afterLabel(s string) string {
	if i := strings.Index(s[:min(len(s), maxLabel)], dashes); i >= 0 {
		return s[i+len(dashes):]
	}
	return s
}

// base64Len is the length of the lines of base64 at the start of a text, which may be numbered.
func base64Len(s string) int {
	return len(regexp.MustCompile(`^(?:(?:\s|\\[nr]|\d+[→:|\t])*[A-Za-z0-9+/=]{16,})+`).FindString(s))
}
