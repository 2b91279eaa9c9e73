package export

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
)

// renderParagraph renders a paragraph, and one that is a table as a table. The library's own tables are in a package that makes every
// start of agentctl slower (docs/decisions/0011-markdown.md).
func (m *markdownRenderer) renderParagraph(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	rows := tableRows(n, source)
	switch {
	case entering && rows != nil:
		return ast.WalkSkipChildren, m.writeTable(w, rows)
	case entering:
		_, _ = w.WriteString("<p>")
	case rows == nil:
		_, _ = w.WriteString("</p>\n")
	}
	return ast.WalkContinue, nil
}

// tableRows returns the cells of a table by rows, the head first; nil if the paragraph is none. The second line of a table divides the
// head from the rest (GitHub Flavored Markdown).
func tableRows(n ast.Node, source []byte) (rows [][]string) {
	lines := n.Lines()
	if lines.Len() < 2 {
		return nil
	}
	first, second := lines.At(0), lines.At(1)
	divider := string(bytes.TrimSpace(second.Value(source)))
	if strings.Trim(divider, "|-: \t") != "" || !strings.Contains(divider, "-") || !strings.Contains(divider, "|") || !bytes.Contains(first.Value(source), []byte("|")) {
		return nil
	}
	for i := range lines.Len() {
		if line := lines.At(i); i != 1 {
			rows = append(rows, cells(string(line.Value(source))))
		}
	}
	return rows
}

// cells are the cells of a row. A bar after a backslash divides none.
func cells(line string) (list []string) {
	line = strings.TrimPrefix(strings.TrimSpace(line), "|")
	if strings.HasSuffix(line, "|") && !strings.HasSuffix(line, `\|`) {
		line = line[:len(line)-1]
	}
	var cell strings.Builder
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\\' && i+1 < len(line) && line[i+1] == '|':
			cell.WriteByte('|')
			i++
		case line[i] == '|':
			list = append(list, strings.TrimSpace(cell.String()))
			cell.Reset()
		default:
			cell.WriteByte(line[i])
		}
	}
	return append(list, strings.TrimSpace(cell.String()))
}

func (m *markdownRenderer) writeTable(w util.BufWriter, rows [][]string) error {
	_, _ = w.WriteString("<div class=\"table\"><table>\n")
	tag := "th"
	for _, row := range rows {
		_, _ = w.WriteString("<tr>")
		for _, cell := range row {
			var b bytes.Buffer
			if err := m.line.Convert([]byte(cell), &b); err != nil {
				return err
			}
			text := strings.TrimSuffix(strings.TrimPrefix(b.String(), "<p>"), "</p>\n")
			_, _ = w.WriteString("<" + tag + ">" + text + "</" + tag + ">")
		}
		_, _ = w.WriteString("</tr>\n")
		tag = "td"
	}
	_, _ = w.WriteString("</table></div>\n")
	return nil
}
