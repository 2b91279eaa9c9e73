package cli

import "strings"

// bashRequest takes the command line up to the cursor, as typed, and the end of it that readline replaces (bash's $2,
// which begins after a quote or any of COMP_WORDBREAKS). It returns the words, none if there is nothing to complete, and how to print
// a candidate: the text to insert and its description. Bash inserts the text as it is, so it is quoted here.
func bashRequest(args []string) (words []string, record func(word, about string) string) {
	if len(args) != 2 || !strings.HasSuffix(args[0], args[1]) {
		return nil, nil
	}
	line, kept := args[0], strings.TrimSuffix(args[0], args[1])
	words, start, _ := bashWords(line)
	if len(words) < 2 || len(kept) < start {
		return nil, nil
	}
	stays, _, quote := bashWords(kept[start:])
	return words[1:], func(word, about string) string {
		rest, ok := strings.CutPrefix(word, stays[0])
		if !ok {
			return ""
		}
		return bashQuoted(rest, quote) + "\x00" + about + "\x00"
	}
}

// bashWords splits a line into words without their quotes. The last word, which begins at start, is unfinished; it is
// empty if the line ends between words. quote is the quote that is open at the end: ', ", or 0. Nothing is expanded.
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
		case quote == c && quote != 0:
			quote = 0
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

// bashQuoted quotes a text for bash where this quote is open: ', ", or 0 for none. The quote stays open after it.
func bashQuoted(text string, quote byte) string {
	special := map[byte]string{0: " !\"#$&'()*:;<=>?@[\\]^`{|},~", '"': "\"$\\`"}[quote]
	var b strings.Builder
	for _, r := range text {
		switch {
		case strings.ContainsRune(special, r):
			b.WriteByte('\\')
			b.WriteRune(r)
		case quote == '\'' && r == '\'':
			b.WriteString(`'\''`)
		case quote == '"' && r == '!': // a backslash would stay in front of it
			b.WriteString(`"'!'"`)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// powerShellQuoted quotes a text unless PowerShell takes it as it is. In single quotes, only these themselves have a meaning; the
// typographic ones are single quotes to PowerShell too.
func powerShellQuoted(text string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=+", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	return "'" + strings.NewReplacer("'", "''", "\u2018", "\u2018\u2018", "\u2019", "\u2019\u2019", "\u201a", "\u201a\u201a", "\u201b", "\u201b\u201b").Replace(text) + "'"
}
