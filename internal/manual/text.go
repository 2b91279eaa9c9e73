package manual

import (
	"strings"
	"unicode/utf8"
)

// Columns of a page as text.
const (
	indent    = 4
	tagWidth  = 8 // a shorter term has its description on the same line
	itemWidth = 3
	minWidth  = 40
)

// Text returns the page as text for a terminal of this width, in columns.
func (p Page) Text(width int) string {
	t := textWriter{page: p, width: max(width, minWidth)}
	t.WriteString("NAME\n")
	t.filled(indent, indent, p.Name+" - "+p.usage)
	for _, s := range p.sections {
		t.WriteString("\n" + strings.ToUpper(s.title) + "\n")
		for i, b := range s.blocks {
			if i > 0 && (b.kind != item || s.blocks[i-1].kind != item) && !b.compact() {
				t.WriteString("\n")
			}
			t.block(b)
		}
	}
	return t.String()
}

// compact reports whether a block has no empty line before it.
func (b block) compact() bool { return b.kind == table && b.head == nil }

// textWriter writes lines of at most width columns.
type textWriter struct {
	strings.Builder
	page  Page
	width int
}

func (t *textWriter) block(b block) {
	switch b.kind {
	case paragraph:
		t.filled(indent, indent, t.plain(b.text))
	case item:
		t.hanging(indent+b.depth*itemWidth, itemWidth, b.marker, t.plain(b.text))
	case table:
		for i, row := range b.rows {
			if i > 0 {
				t.WriteString("\n")
			}
			term, text := b.definition(row)
			t.hanging(indent, tagWidth, t.plain(term), t.plain(text))
		}
	case code:
		for _, line := range b.lines {
			t.WriteString(strings.TrimRight(strings.Repeat(" ", 2*indent)+line, " ") + "\n")
		}
	}
}

func (t *textWriter) plain(text string) string { return plain(t.page.spans(text)) }

// hanging writes a term, and its description some columns to the right: on the same line if the term leaves room.
func (t *textWriter) hanging(column, width int, term, text string) {
	if n := utf8.RuneCountInString(term); n+1 < width { // with two blanks between them
		t.filled(column, column+width, term+strings.Repeat("\u00a0", width-n-1)+" "+text)
		return
	}
	t.filled(column, column+width, term)
	t.filled(column+width, column+width, text)
}

// filled writes a text in lines: the first one begins at a column, the others at another one.
func (t *textWriter) filled(first, others int, text string) {
	line := strings.Repeat(" ", first)
	used, empty := first, true
	for word := range strings.SplitSeq(text, " ") {
		n := utf8.RuneCountInString(word)
		switch {
		case !empty && used+1+n > t.width:
			t.WriteString(line + "\n")
			line, used = strings.Repeat(" ", others), others
		case !empty:
			line += " "
			used++
		}
		line, used, empty = line+strings.ReplaceAll(word, "\u00a0", " "), used+n, false
	}
	t.WriteString(line + "\n")
}
