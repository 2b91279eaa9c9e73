package completion

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"agentctl/internal/cmdutil"
	"agentctl/internal/output"
)

// completeBash takes the command line up to the cursor, as typed, and the end of it that readline replaces (bash's $2,
// which begins after a quote or any of COMP_WORDBREAKS). It prints the text to insert and its description in turn. Bash
// inserts the text as it is, so it is quoted here.
func completeBash(ctx context.Context, f cmdutil.Factory, verbs []cmdutil.Verb, args []string) string {
	if len(args) != 2 || !strings.HasSuffix(args[0], args[1]) {
		return ""
	}
	line, replaced := args[0], args[1]
	words, start, _ := bashWords(line)
	if len(words) < 2 || len(line)-len(replaced) < start {
		return ""
	}
	stays, quote := "", byte(0)
	if kept := line[start : len(line)-len(replaced)]; kept != "" {
		some, _, q := bashWords(kept)
		stays, quote = some[0], q
	}
	var b strings.Builder
	for _, o := range matching(ctx, f, verbs, words[1:]) {
		if rest, ok := strings.CutPrefix(o.text, stays); ok {
			b.WriteString(bashQuoted(rest, quote) + "\x00" + output.Sanitize(o.description) + "\x00")
		}
	}
	return b.String()
}

// bashWords splits a line into words without their quotes. The last word, which begins at start, is unfinished; it is
// empty if the line ends between words. quote is the quote that is open at the end: ', ", $ for $', or 0. Nothing is
// expanded.
func bashWords(line string) (words []string, start int, quote byte) {
	var word strings.Builder
	inside := false // a word
	for i := 0; i < len(line); i++ {
		c := line[i]
		if quote == 0 && !inside && (c == ' ' || c == '\t' || c == '\n') {
			continue
		}
		if !inside {
			inside, start = true, i
		}
		next := byte(0)
		if i+1 < len(line) {
			next = line[i+1]
		}
		switch {
		case quote == 0 && (c == ' ' || c == '\t' || c == '\n'):
			words, inside = append(words, word.String()), false
			word.Reset()
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case quote == 0 && c == '$' && next == '\'':
			quote = '$'
			i++
		case quote == '$' && c == '\'', quote != 0 && quote == c && c != '$':
			quote = 0
		case quote == '$' && c == '\\' && next != 0:
			char, n := ansiEscape(line[i+1:])
			word.WriteString(char)
			i += n
		case c == '\\' && next == 0 && quote != '\'': // the character behind it is not typed yet
		case c == '\\' && (quote == 0 || quote == '"' && strings.IndexByte("$`\"\\", next) >= 0):
			word.WriteByte(next)
			i++
		default:
			word.WriteByte(c)
		}
	}
	if !inside {
		start = len(line)
	}
	return append(words, word.String()), start, quote
}

// ansiEscape decodes the escape after a backslash inside $'…', and returns its length in bytes.
func ansiEscape(text string) (char string, n int) {
	if i := strings.IndexByte(`abefnrtv`, text[0]); i >= 0 {
		return "\a\b\x1b\f\n\r\t\v"[i : i+1], 1
	}
	value := 0
	for n < len(text) && n < 3 && text[n] >= '0' && text[n] <= '7' {
		value = value*8 + int(text[n]-'0')
		n++
	}
	if n > 0 {
		return string([]byte{byte(value)}), n
	}
	return text[:1], 1
}

// bashQuoted quotes a text for bash where this quote is open: ', ", $ for $', or 0 for none. The quote stays open after
// it. Unprintable bytes are written as $'…' escapes.
func bashQuoted(text string, quote byte) string {
	open, end := map[byte]string{'\'': "'", '"': `"`, '$': "$'"}[quote], ""
	if end = open; quote == '$' {
		end = "'"
	}
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		char := text[:n]
		text = text[n:]
		switch {
		case r == utf8.RuneError && n == 1, !unicode.IsPrint(r):
			escapes := ""
			for _, c := range []byte(char) {
				escapes += fmt.Sprintf(`\%03o`, c)
			}
			if quote != '$' {
				escapes = end + "$'" + escapes + "'" + open
			}
			b.WriteString(escapes)
		case quote == 0 && strings.ContainsRune(" !\"#$&'()*:;<=>?@[\\]^`{|},~", r),
			quote == '"' && strings.ContainsRune("\"$\\`", r),
			quote == '$' && strings.ContainsRune(`\'`, r):
			b.WriteString(`\` + char)
		case quote == '\'' && r == '\'':
			b.WriteString(`'\''`)
		case quote == '"' && r == '!': // a backslash would stay in front of it
			b.WriteString(`"'!'"`)
		default:
			b.WriteString(char)
		}
	}
	return b.String()
}
