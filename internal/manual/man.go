package manual

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Man returns the page in man(7). version is that of the program, date that of the release, as in 2026-01-31.
func (p Page) Man(version, date string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 %q %q\n", manText(strings.ToUpper(p.Name)), date, Program+" "+version)
	fmt.Fprintf(&b, ".SH NAME\n%s", manLines(manText(p.Name)+` \- `+manText(p.usage)))
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
			b.WriteString(manLines(p.manSpans(bl.text)))
		case item:
			marker := bl.marker
			if marker == "-" {
				marker = `\(bu`
			}
			fmt.Fprintf(b, ".IP %s 3\n%s", marker, manLines(p.manSpans(bl.text)))
		case table:
			for _, row := range bl.rows {
				tag, text := bl.definition(row)
				fmt.Fprintf(b, ".TP\n%s%s", manLine(p.manSpans(tag)), manLines(p.manSpans(text)))
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

// definition returns a row of the block's table as a term and its description. The last cell is the description if it is the meaning of
// the others; else all cells but the first one are, each with its heading.
func (b block) definition(row []string) (term, text string) {
	last := len(row) - 1
	term = row[0]
	if last == 1 || b.head[last] == "meaning" {
		for _, cell := range row[1:last] {
			if cell != "" {
				term += " (" + cell + ")"
			}
		}
		return term, row[last]
	}
	var parts []string
	for i, cell := range row[1:] {
		parts = append(parts, "*"+b.head[i+1]+"* "+cell)
	}
	return term, strings.Join(parts, "; ")
}

func (p Page) manSpans(text string) string {
	var b strings.Builder
	for _, s := range p.spans(text) {
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

// maxManLine is the length of a line in bytes above which mandoc warns. To mandoc, a character beyond ASCII has the length of its escape.
const (
	maxManLine = 80
	runeEscape = `\[u1F600]`
)

// manLines makes lines of text, which roff fills. No line ends with the end of a sentence: roff would put two blanks after that one only.
func manLines(text string) string {
	var b strings.Builder
	line, length := "", 0
	for _, words := range unbroken(text) {
		n := len(words)
		for _, r := range words {
			if r > unicode.MaxASCII {
				n += len(runeEscape) - utf8.RuneLen(r)
			}
		}
		switch {
		case line == "":
			line, length = words, len(`\&`)+n
		case length+1+n > maxManLine:
			b.WriteString(manLine(line))
			line, length = words, len(`\&`)+n
		default:
			line += " " + words
			length += 1 + n
		}
	}
	b.WriteString(manLine(line))
	return b.String()
}

// unbroken splits a text at its blanks, except behind a word that roff takes for the end of a sentence if it ends a line.
func unbroken(text string) (out []string) {
	ended := false
	for word := range strings.SplitSeq(text, " ") {
		if ended {
			out[len(out)-1] += " " + word
		} else {
			out = append(out, word)
		}
		word = strings.TrimRight(strings.ReplaceAll(word, `\fP`, ""), `"')]*`)
		ended = word != "" && strings.Contains(".?!", word[len(word)-1:])
	}
	return out
}

// manText writes a text so that roff prints it as it is.
func manText(text string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(text)
}
