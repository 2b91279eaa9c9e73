package sqlite

import (
	"errors"
	"strings"
)

// token is a word, a literal or a sign of a CREATE statement.
type token struct {
	kind tokenKind
	text string // without quotes
}

type tokenKind byte

const (
	endToken    tokenKind = iota
	wordToken             // a keyword or a name
	nameToken             // a name in quotes
	stringToken           // a text in single quotes
	blobToken             // hexadecimal digits of x'…'
	numberToken
	signToken
)

// is reports whether the token is one of these keywords or signs, in upper case.
func (t token) is(words ...string) bool {
	if t.kind != wordToken && t.kind != signToken {
		return false
	}
	for _, w := range words {
		if strings.EqualFold(t.text, w) {
			return true
		}
	}
	return false
}

// isName reports whether the token can name something.
func (t token) isName() bool {
	return t.kind == wordToken || t.kind == nameToken || t.kind == stringToken
}

var errUnended = errors.New("its CREATE statement is cut off")

// tokens splits a statement; comments are left out.
func tokens(sql string) ([]token, error) {
	var out []token
	for sql = skipSpace(sql); sql != ""; sql = skipSpace(sql) {
		t, n := nextToken(sql)
		if n < 0 {
			return nil, errUnended
		}
		out, sql = append(out, t), sql[n:]
	}
	return out, nil
}

func skipSpace(s string) string {
	for {
		s = strings.TrimLeft(s, " \t\n\f\r")
		end := ""
		switch {
		case strings.HasPrefix(s, "--"):
			end = "\n"
		case strings.HasPrefix(s, "/*"):
			end = "*/"
		default:
			return s
		}
		_, s, _ = strings.Cut(s[2:], end)
	}
}

// nextToken is the first token and its length; -1 where a quote is not closed.
func nextToken(s string) (token, int) {
	switch c := s[0]; {
	case c == '\'':
		text, n := quoted(s, '\'')
		return token{stringToken, text}, n
	case c == '"' || c == '`':
		text, n := quoted(s, c)
		return token{nameToken, text}, n
	case c == '[':
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return token{}, -1
		}
		return token{nameToken, s[1:end]}, end + 1
	case (c == 'x' || c == 'X') && strings.HasPrefix(s[1:], "'"):
		text, n := quoted(s[1:], '\'')
		if n < 0 {
			return token{}, -1
		}
		return token{blobToken, text}, n + 1
	case c >= '0' && c <= '9' || c == '.' && len(s) > 1 && s[1] >= '0' && s[1] <= '9':
		n := numberLength(s)
		return token{numberToken, s[:n]}, n
	case isWord(c):
		n := 1
		for n < len(s) && isWord(s[n]) {
			n++
		}
		return token{wordToken, s[:n]}, n
	}
	return token{signToken, s[:1]}, 1
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c >= 0x80
}

// quoted is what stands between quotes, where two in a row are one, and the length with them.
func quoted(s string, quote byte) (string, int) {
	var out strings.Builder
	for i := 1; i < len(s); i++ {
		if s[i] != quote {
			out.WriteByte(s[i])
			continue
		}
		if i+1 == len(s) || s[i+1] != quote {
			return out.String(), i + 1
		}
		out.WriteByte(quote)
		i++
	}
	return "", -1
}

// numberLength takes what belongs to a number: digits, a point, an exponent with its sign, and 0x….
func numberLength(s string) int {
	hex := len(s) > 1 && s[0] == '0' && s[1]|0x20 == 'x'
	n := 1
	for n < len(s) {
		c := s[n]
		signed := !hex && (c == '+' || c == '-') && s[n-1]|0x20 == 'e'
		if !isWord(c) && c != '.' && !signed {
			break
		}
		n++
	}
	return n
}
