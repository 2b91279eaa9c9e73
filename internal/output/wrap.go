package output

import (
	"cmp"
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// minWrapWidth is the width of the narrowest text. In a narrower terminal, lines are too wide.
const minWrapWidth = 8

// tabStop is the distance between tab stops in columns.
const tabStop = 4

// WrapPlain breaks a line that a command has printed into lines of at most width columns, if it has no colours.
func WrapPlain(line string, width int) []string {
	if strings.Contains(line, "\x1b") || displaywidth.String(line) <= width {
		return []string{line}
	}
	return wrap(line, width)
}

// wrap breaks a line into lines of at most width columns, between words if possible. Continuation lines have the
// indentation of the first. The line must be sanitized and contain no line break.
func wrap(line string, width int) (out []string) {
	line = strings.TrimRight(expandTabs(line), " ")
	width = max(width, minWrapWidth)
	indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
	if len(indent) > width/2 {
		indent = ""
	}
	for prefix := ""; ; prefix = indent {
		n := fitLen(line, width-len(prefix))
		out = append(out, prefix+strings.TrimRight(line[:n], " "))
		if line = strings.TrimLeft(line[n:], " "); line == "" {
			return out
		}
	}
}

// fitLen returns how many bytes of s fit into a line: all of s, or up to the end of the last word that fits, or as
// much of the first word as fits. It is never 0.
func fitLen(s string, room int) int {
	at, wordEnd, used := 0, 0, 0 // wordEnd: of the last word that fits
	inWord := false
	for g := displaywidth.StringGraphemes(s); g.Next(); at += len(g.Value()) {
		blank := g.Value() == " "
		if blank && inWord {
			wordEnd = at
		}
		inWord = !blank
		if used += g.Width(); used > room && !blank && at > 0 {
			return cmp.Or(wordEnd, at)
		}
	}
	return len(s)
}

// expandTabs replaces tabs with blanks.
func expandTabs(line string) string {
	if !strings.Contains(line, "\t") {
		return line
	}
	var b strings.Builder
	column := 0
	for i, part := range strings.Split(line, "\t") {
		if i > 0 {
			n := tabStop - column%tabStop
			b.WriteString(strings.Repeat(" ", n))
			column += n
		}
		b.WriteString(part)
		column += displaywidth.String(part)
	}
	return b.String()
}
