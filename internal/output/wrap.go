package output

import (
	"cmp"
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// minWrapWidth is that of the narrowest text: in a narrower terminal lines are too wide.
const minWrapWidth = 8

// tabStop is how far apart the columns are that a tab goes to.
const tabStop = 4

// wrap parts a line into such as are at most that wide, between words where it can. What goes on is indented as the line
// is. The line is clean and has no line breaks.
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

// fitLen is how much of a text goes into a line, in bytes: all of it, or up to the end of a word, or of a word that is
// too long what there is room for. It is never nothing.
func fitLen(s string, room int) int {
	at, word, used := 0, 0, 0 // word: where the last one that fits ends
	inside := false
	for g := displaywidth.StringGraphemes(s); g.Next(); at += len(g.Value()) {
		blank := g.Value() == " "
		if blank && inside {
			word = at
		}
		inside = !blank
		if used += g.Width(); used > room && !blank && at > 0 {
			return cmp.Or(word, at)
		}
	}
	return len(s)
}

// expandTabs puts blanks for tabs.
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
