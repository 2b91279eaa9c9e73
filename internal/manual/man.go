package manual

import (
	"fmt"
	"strings"
)

// Man returns the page in man(7). version is that of the program, date that of the release, as in 2026-01-31.
func (p Page) Man(version, date string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 %q %q\n", manText(strings.ToUpper(p.Name)), date, Program+" "+version)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", manText(p.Name), manText(p.usage))
	for _, s := range p.sections {
		fmt.Fprintf(&b, ".SH %s\n", manText(strings.ToUpper(s.title)))
		p.manBlocks(&b, s.blocks)
	}
	return b.String()
}

func (p Page) manBlocks(b *strings.Builder, blocks []block) {
	depth := 0
	for i, bl := range blocks {
		for ; bl.kind == item && depth < bl.depth; depth++ {
			b.WriteString(".RS\n")
		}
		for ; depth > 0 && (bl.kind != item || depth > bl.depth); depth-- {
			b.WriteString(".RE\n")
		}
		switch bl.kind {
		case paragraph:
			if i > 0 {
				b.WriteString(".PP\n")
			}
			b.WriteString(manLine(p.manSpans(bl.text)))
		case item:
			marker := bl.marker
			if marker == "-" {
				marker = `\(bu`
			}
			fmt.Fprintf(b, ".IP %s 3\n%s", marker, manLine(p.manSpans(bl.text)))
		case table:
			for _, row := range bl.rows {
				tag, text := definition(row)
				fmt.Fprintf(b, ".TP\n%s%s", manLine(p.manSpans(tag)), manLine(p.manSpans(text)))
			}
		case code:
			if i > 0 {
				b.WriteString(".PP\n")
			}
			b.WriteString(".RS 4\n.EX\n")
			for _, line := range bl.lines {
				b.WriteString(manLine(manText(line)))
			}
			b.WriteString(".EE\n.RE\n")
		}
	}
	b.WriteString(strings.Repeat(".RE\n", depth))
}

// definition returns a row as a term and its description. Cells between the first and the last are part of the term.
func definition(row []string) (term, text string) {
	last := len(row) - 1
	for i, cell := range row[:last] {
		switch {
		case i == 0:
			term = cell
		case cell != "":
			term += " (" + cell + ")"
		}
	}
	return term, row[last]
}

func (p Page) manSpans(text string) string {
	var b strings.Builder
	for _, s := range spansOf(text, p.commands) {
		switch s.font {
		case bold:
			b.WriteString(`\fB` + manText(s.text) + `\fP`)
		case italic:
			b.WriteString(`\fI` + manText(s.text) + `\fP`)
		default:
			b.WriteString(manText(s.text))
		}
	}
	return b.String()
}

// manLine makes a line of text: one that begins with a control character of roff is no request, and an empty one stays empty.
func manLine(text string) string {
	if text == "" || text[0] == '.' || text[0] == '\'' || text[0] == ' ' {
		text = `\&` + text
	}
	return text + "\n"
}

// manText writes a text so that roff prints it as it is.
func manText(text string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(text)
}
