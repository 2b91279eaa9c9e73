package manual

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"agentctl/internal/render"
)

// Columns of a page as text.
const (
	indent    = 4
	termWidth = 8 // a shorter term has its definition on the same line
	itemWidth = 3
	minWidth  = 40
)

// textWriter writes lines of at most width columns.
type textWriter struct {
	strings.Builder
	width        int
	bold, markup *regexp.Regexp // markup: of code and italic words
}

// Text returns the page as text for a terminal of this width, in columns.
func (p Page) Text(width int) string {
	t := textWriter{width: max(width, minWidth), bold: regexp.MustCompile(`\*\*([^*]+)\*\*`), markup: regexp.MustCompile("`([^`]+)`|\\*([^*\\s][^*]*)\\*")}
	for i, s := range p.sections {
		if i > 0 {
			t.WriteString("\n")
		}
		t.WriteString(strings.ToUpper(s.title) + "\n")
		for i, block := range s.blocks {
			if i > 0 {
				t.WriteString("\n")
			}
			t.block(block)
		}
	}
	return t.String()
}

func (t *textWriter) block(block string) {
	lines := strings.Split(block, "\n")
	if strings.HasPrefix(block, "```") {
		for _, line := range lines[1 : len(lines)-1] {
			t.WriteString(strings.TrimRight(strings.Repeat(" ", 2*indent)+line, " ") + "\n")
		}
		return
	}
	var depth int
	var marker string // of the item that the lines belong to
	var words []string
	end := func() {
		if len(words) > 0 {
			t.hanging(indent+depth*itemWidth, min(itemWidth*len(marker), itemWidth), marker, strings.Join(words, " "))
		}
		words = nil
	}
	for i, line := range lines {
		definition, ok := strings.CutPrefix(line, ": ")
		d, m, text, isItem := cutItem(line)
		switch {
		case ok:
			t.hanging(indent, termWidth, words[0], definition)
			words = nil
		case line == "":
			t.WriteString("\n")
		case isItem && (i == 0 || marker != ""):
			end()
			depth, marker, words = d, m, []string{text}
		default:
			words = append(words, strings.TrimSpace(line))
		}
	}
	end()
}

// cutItem splits the first line of an item of a list. Two blanks before the marker nest it in another item.
func cutItem(line string) (depth int, marker, text string, ok bool) {
	rest := strings.TrimLeft(line, " ")
	marker, text, ok = strings.Cut(rest, " ")
	number, isNumber := strings.CutSuffix(marker, ".")
	isNumber = isNumber && number != "" && strings.Trim(number, "0123456789") == ""
	return (len(line) - len(rest)) / 2, marker, text, ok && (marker == "-" || isNumber)
}

// plain returns a text without its markup.
func (t *textWriter) plain(text string) string {
	return t.markup.ReplaceAllString(t.bold.ReplaceAllString(text, "$1"), "$1$2")
}

// hanging writes a term, and its description some columns to the right: on the same line if the term leaves
// room for two blanks, and if it is the marker of an item.
func (t *textWriter) hanging(column, width int, term, text string) {
	term = t.plain(term)
	n := utf8.RuneCountInString(term)
	if n > len("1.") && n+1 >= width {
		t.hanging(column, 0, "", term)
		term, n = "", 0
	}
	lines := render.WrapPlain(strings.Repeat(" ", column+width)+t.plain(text), t.width)
	lines[0] = strings.Repeat(" ", column) + term + lines[0][column+n:]
	t.WriteString(strings.Join(lines, "\n") + "\n")
}
