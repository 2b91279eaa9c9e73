package manual

import (
	"regexp"
	"strings"
)

// font is how a span of a text is printed.
type font int

const (
	roman font = iota
	bold
	italic
)

// span is a piece of a text in one font.
type span struct {
	font font
	text string
}

// markup splits the Markdown of texts into spans.
type markup struct {
	// commands are those that have a page: a link to the section of one becomes the name of its page.
	commands []string
	inline   *regexp.Regexp
}

func newMarkup(commands []string) markup {
	// Code, a link, bold and italic words, a key, and an anchor.
	const inline = "`([^`]+)`|\\[([^\\]]+)\\]\\(([^)]+)\\)|\\*\\*([^*]+)\\*\\*|\\*([^*\\s][^*]*)\\*|<kbd>([^<]+)</kbd>|<a id=\"[^\"]*\"></a>"
	return markup{commands, regexp.MustCompile(inline)}
}

// spans splits the Markdown of a text.
func (p markup) spans(text string) (spans []span) {
	add := func(f font, text string) {
		if text != "" {
			spans = append(spans, span{f, text})
		}
	}
	at := 0
	for _, m := range p.inline.FindAllStringSubmatchIndex(text, -1) {
		group := func(n int) string {
			if m[2*n] < 0 {
				return ""
			}
			return text[m[2*n]:m[2*n+1]]
		}
		add(roman, text[at:m[0]])
		at = m[1]
		switch {
		case group(1) != "":
			add(bold, group(1))
		case group(2) != "":
			spans = append(spans, p.link(group(2), group(3))...)
		case group(4) != "":
			spans = append(spans, withFont(bold, p.spans(group(4)))...)
		case group(5) != "":
			add(italic, group(5))
		case group(6) != "":
			add(bold, group(6))
		}
	}
	add(roman, text[at:])
	return spans
}

// link is a link's text. The page of another command is named, and an address on the web follows the text.
func (p markup) link(text, target string) []span {
	inner := p.spans(text)
	command, internal := strings.CutPrefix(target, "#")
	for _, c := range p.commands {
		if internal && strings.ReplaceAll(c, " ", "-") == command {
			return []span{{bold, pageName(c)}, {roman, "(1)"}}
		}
	}
	if strings.HasPrefix(target, "https://") {
		return append(inner, span{roman, " <" + target + ">"})
	}
	return inner
}

func withFont(f font, spans []span) []span {
	for i := range spans {
		if spans[i].font == roman {
			spans[i].font = f
		}
	}
	return spans
}

// plain is the text without its fonts.
func plain(spans []span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.text)
	}
	return b.String()
}
