package manual

import (
	"strings"
)

// section is what follows a heading of the second level.
type section struct {
	title  string
	blocks []block
}

// kind is the kind of a block.
type kind int

const (
	paragraph kind = iota
	item           // of a list
	table
	code
)

// block is a part of a section.
type block struct {
	kind kind
	// text is the Markdown of a paragraph or an item, on one line.
	text string
	// marker and depth are of an item: "-" or "1.", and the number of lists that it is nested in.
	marker string
	depth  int
	// head and rows are the cells of a table.
	head []string
	rows [][]string
	// language and lines are of a code block.
	language string
	lines    []string
}

// parse splits a page into its sections. The first one has no title: it is what precedes the first heading of the second level.
func parse(page string) []section {
	sections := []section{{}}
	lines := strings.Split(page, "\n")
	for len(lines) > 0 {
		s := &sections[len(sections)-1]
		line := lines[0]
		switch {
		case strings.TrimSpace(line) == "", strings.HasPrefix(line, "# "):
			lines = lines[1:]
		case strings.HasPrefix(line, "## "):
			sections = append(sections, section{title: line[len("## "):]})
			lines = lines[1:]
		default:
			var b block
			b, lines = parseBlock(lines)
			s.blocks = append(s.blocks, b)
		}
	}
	return sections
}

// itemStart splits the beginning of an item into its marker and its text. Two blanks before the marker nest it in another item.
func itemStart(line string) (depth int, marker, text string, ok bool) {
	rest := strings.TrimLeft(line, " ")
	depth = (len(line) - len(rest)) / 2
	marker, text, ok = strings.Cut(rest, " ")
	number := strings.TrimRight(strings.TrimSuffix(marker, "."), "0123456789")
	isNumber := number == "" && len(marker) > 1 && strings.HasSuffix(marker, ".")
	return depth, marker, strings.TrimLeft(text, " "), ok && (marker == "-" || isNumber)
}

// parseBlock takes a block from the lines.
func parseBlock(lines []string) (block, []string) {
	line := lines[0]
	switch {
	case strings.HasPrefix(line, "```"):
		return parseCode(lines)
	case strings.HasPrefix(line, "|"):
		return parseTable(lines)
	}
	b := block{}
	if depth, marker, text, ok := itemStart(line); ok {
		b.kind, b.depth, b.marker = item, depth, marker
		lines = append([]string{text}, lines[1:]...)
	}
	n := 1
	for n < len(lines) && !endsText(lines[n]) {
		n++
	}
	b.text = strings.Join(strings.Fields(strings.Join(lines[:n], " ")), " ")
	return b, lines[n:]
}

// endsText reports whether a line ends a paragraph or an item before it.
func endsText(line string) bool {
	_, _, _, starts := itemStart(line)
	return strings.TrimSpace(line) == "" || starts ||
		strings.HasPrefix(line, "```") || strings.HasPrefix(line, "|") || strings.HasPrefix(line, "#")
}

func parseCode(lines []string) (block, []string) {
	b := block{kind: code, language: strings.TrimPrefix(lines[0], "```")}
	for n, line := range lines[1:] {
		if line == "```" {
			return b, lines[n+2:]
		}
		b.lines = append(b.lines, line)
	}
	return b, nil
}

func parseTable(lines []string) (block, []string) {
	b := block{kind: table}
	n := 0
	for ; n < len(lines) && strings.HasPrefix(lines[n], "|"); n++ {
		switch cells := cellsOf(lines[n]); n {
		case 0:
			b.head = cells
		case 1: // |---|---|
		default:
			b.rows = append(b.rows, cells)
		}
	}
	return b, lines[n:]
}

// cellsOf splits a row. A | in a cell has a backslash before it.
func cellsOf(row string) []string {
	const escaped = "\x00"
	row = strings.ReplaceAll(strings.Trim(strings.TrimSpace(row), "|"), `\|`, escaped)
	cells := strings.Split(row, "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(strings.ReplaceAll(cells[i], escaped, "|"))
	}
	return cells
}
