package export

import (
	"html"
	"strings"
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
	fence, _ := cutFence(trimmed)
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
		const above = "123" // the levels of the page's own headings
		tag := "h" + string(rune('0'+min(6, level+len(above)-1)))
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

// cutFence returns the fence that a line begins with, and what follows it; "" if there is none.
func cutFence(line string) (fence, info string) {
	for _, c := range []string{"`", "~"} {
		info = strings.TrimLeft(line, c)
		if n := len(line) - len(info); n >= 3 && !strings.Contains(info, "`") {
			return line[:n], info
		}
	}
	return "", ""
}

// inline writes a line of a paragraph.
func (p *proseWriter) inline(line string) {
	for line != "" {
		i := strings.IndexAny(line, "`*[")
		if i < 0 {
			break
		}
		p.WriteString(html.EscapeString(line[:i]))
		line = line[i:]
		if rest, ok := p.span(line); ok {
			line = rest
		} else {
			run := max(1, len(line)-len(strings.TrimLeft(line, "`"))) // one mark, or all backticks in a row
			p.WriteString(line[:run])
			line = line[run:]
		}
	}
	p.WriteString(html.EscapeString(line))
}

// maxSpan is the most bytes that are searched for the end of a span.
const maxSpan = 1000

// span writes the code, the bold words or the link that a text begins with.
func (p *proseWriter) span(text string) (rest string, ok bool) {
	near := text[:min(len(text), maxSpan)]
	switch {
	case text[0] == '`':
		mark := text[:len(text)-len(strings.TrimLeft(text, "`"))]
		if code, _, ok := strings.Cut(near[min(len(mark), len(near)):], mark); ok && code != "" {
			p.WriteString("<code>" + html.EscapeString(code) + "</code>")
			return text[len(code)+2*len(mark):], true
		}
	case strings.HasPrefix(text, "**"):
		if bold, _, ok := strings.Cut(near[2:], "**"); ok && bold != "" && bold == strings.TrimSpace(bold) {
			p.WriteString("<strong>" + html.EscapeString(bold) + "</strong>")
			return text[len(bold)+4:], true
		}
	case text[0] == '[':
		label, after, ok := strings.Cut(near[1:], "](")
		url, _, closed := strings.Cut(after, ")")
		if ok && closed && label != "" && isWebLink(url) {
			p.WriteString(`<a rel="noreferrer noopener" href="` + html.EscapeString(url) + `">` + html.EscapeString(label) + "</a>")
			return text[len(label)+len(url)+4:], true
		}
	}
	return text, false
}

// isWebLink reports whether a link leads to the web or to an address for mail.
func isWebLink(url string) bool {
	for _, scheme := range []string{"http://", "https://", "mailto:"} {
		if len(url) > len(scheme) && strings.EqualFold(url[:len(scheme)], scheme) {
			return !strings.ContainsAny(url, " \t\"<>`")
		}
	}
	return false
}
