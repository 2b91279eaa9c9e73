package export

import (
	"html"
	"regexp"
	"strings"
	"sync"
)

// prose renders the Markdown of an answer as HTML: code blocks, headings, tables as they were typed, code, bold words and links.
// All else, raw HTML too, is text. Its time grows with the length of the text only.
func prose(text string) string {
	var p proseWriter
	for line := range strings.Lines(text) {
		p.line(strings.TrimSuffix(line, "\n"))
	}
	p.endBlock()
	return p.String()
}

// proseWriter writes blocks: of paragraphs, code or tables.
type proseWriter struct {
	strings.Builder
	end   string // that ends the open block; "" outside of any
	fence string // of the open code block
	table bool   // the open block is a table
}

// line writes the next line.
func (p *proseWriter) line(line string) {
	trimmed := strings.TrimSpace(line)
	fence := fenceOf(trimmed)
	level := len(trimmed) - len(strings.TrimLeft(trimmed, "#"))
	isRow := strings.HasPrefix(trimmed, "|")
	switch {
	case p.fence != "" && len(fence) >= len(p.fence) && fence[0] == p.fence[0] && fence == trimmed:
		p.endBlock()
	case p.fence != "":
		p.WriteString(html.EscapeString(line) + "\n")
	case fence != "":
		p.beginBlock("<pre><code>", "</code></pre>\n")
		p.fence = fence
	case trimmed == "":
		p.endBlock()
	case 0 < level && level <= 6 && strings.HasPrefix(trimmed[level:], " "):
		tag := "h" + string(rune('0'+min(6, level+2))) // below the page's own
		p.beginBlock("<"+tag+">", "</"+tag+">\n")
		p.inline(strings.TrimSpace(trimmed[level:]))
		p.endBlock()
	case isRow && p.table:
		p.WriteString(html.EscapeString(line) + "\n")
	case isRow:
		p.beginBlock("<pre>", "</pre>\n")
		p.table = true
		p.WriteString(html.EscapeString(line) + "\n")
	default:
		if p.end == "" || p.table {
			p.beginBlock("<p>", "</p>\n")
		} else {
			p.WriteString("\n")
		}
		p.inline(line)
	}
}

func (p *proseWriter) beginBlock(begin, end string) {
	p.endBlock()
	p.WriteString(begin)
	p.end = end
}

func (p *proseWriter) endBlock() {
	p.WriteString(p.end)
	p.end, p.fence, p.table = "", "", false
}

// inline writes a line of a paragraph.
func (p *proseWriter) inline(line string) {
	done := 0
	for _, m := range spans().FindAllStringSubmatchIndex(line, -1) {
		p.WriteString(html.EscapeString(line[done:m[0]]))
		done = m[1]
		group := func(n int) string { return html.EscapeString(line[max(0, m[2*n]):max(0, m[2*n+1])]) }
		switch {
		case m[2] >= 0, m[4] >= 0:
			p.WriteString("<code>" + group(1) + group(2) + "</code>")
		case m[6] >= 0:
			p.WriteString("<strong>" + group(3) + "</strong>")
		case m[8] >= 0:
			p.WriteString(`<a rel="noreferrer noopener" href="` + group(5) + `">` + group(4) + "</a>")
		}
	}
	p.WriteString(html.EscapeString(line[done:]))
}

// spans matches code between two or one backticks, bold words, and links to the web or to an address for mail.
var spans = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("``+([^`](?:[^`]|`[^`])*)``+|`([^`]+)`" + `|\*\*([^\s*](?:[^*]*[^\s*])?)\*\*|\[([^\]]+)\]\(((?i:https?://|mailto:)[^\s"<>` + "`" + `)]+)\)`)
})

// fenceOf returns the fence that a line begins with; "" if there is none.
func fenceOf(line string) string {
	for _, c := range []string{"`", "~"} {
		info := strings.TrimLeft(line, c)
		if n := len(line) - len(info); n >= 3 && !strings.Contains(info, "`") {
			return line[:n]
		}
	}
	return ""
}
