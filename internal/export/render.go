package export

import (
	"bytes"
	"html"
	"html/template"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	goldmarkhtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"

	"agentctl/internal/output"
)

// markdownRenderer renders the Markdown of an answer as HTML. Raw HTML in it is text like any other. Links lead to the web or to an
// address for mail, and images are links: nothing is loaded.
type markdownRenderer struct{ document, line goldmark.Markdown }

// The library takes time that grows with the square of how deeply quotes and lists are nested, and of how many brackets and marks of
// emphasis a paragraph has. No answer has as many as these, so that a text that has more is shown as it is.
const (
	maxMarkdown = 64 << 10 // bytes
	maxNesting  = 30       // quotes and lists that one line begins
	maxMarks    = 3000     // brackets and marks of emphasis in lines without a blank one between them
)

func newMarkdownRenderer() *markdownRenderer {
	m := &markdownRenderer{}
	inline := []util.PrioritizedValue{
		util.Prioritized(parser.NewCodeSpanParser(), 100),
		util.Prioritized(parser.NewLinkParser(), 200),
		util.Prioritized(parser.NewAutoLinkParser(), 300),
		util.Prioritized(parser.NewEmphasisParser(), 500),
	}
	paragraph := util.Prioritized(parser.NewParagraphParser(), 1000)
	render := goldmark.WithRenderer(renderer.NewRenderer(renderer.WithNodeRenderers(
		util.Prioritized(goldmarkhtml.NewRenderer(goldmarkhtml.WithHardWraps(), goldmarkhtml.WithWriter(textWriter{goldmarkhtml.DefaultWriter})), 1000),
		util.Prioritized(m, 100),
	)))
	m.line = goldmark.New(render, goldmark.WithParser(parser.NewParser(parser.WithBlockParsers(paragraph), parser.WithInlineParsers(inline...))))
	m.document = goldmark.New(render, goldmark.WithParser(parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(parser.NewSetextHeadingParser(), 100),
			util.Prioritized(parser.NewThematicBreakParser(), 200),
			util.Prioritized(parser.NewListParser(), 300),
			util.Prioritized(parser.NewListItemParser(), 400),
			util.Prioritized(parser.NewCodeBlockParser(), 500),
			util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
			util.Prioritized(parser.NewBlockquoteParser(), 800),
			paragraph,
		),
		parser.WithInlineParsers(inline...),
		parser.WithParagraphTransformers(util.Prioritized(parser.LinkReferenceParagraphTransformer, 100)),
	)))
	return m
}

// render returns a text as HTML; not ok if it is not to be rendered.
func (m *markdownRenderer) render(text string) (rendered template.HTML, ok bool) {
	if len(text) > maxMarkdown || isTangled(text) {
		return "", false
	}
	var b bytes.Buffer
	if err := m.document.Convert([]byte(text), &b); err != nil {
		return "", false
	}
	return template.HTML(b.String()), true //nolint:gosec // goldmark and the functions below have escaped it
}

// isTangled reports whether a text is nested too deeply, or has too many marks.
func isTangled(text string) bool {
	marks := 0
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == "" {
			marks = 0
		}
		for _, c := range line {
			if strings.ContainsRune("[]*_", c) {
				marks++
			}
		}
		nesting := 0
		for i := 0; i < len(line) && strings.IndexByte(" \t>-*+.)0123456789", line[i]) >= 0; i++ {
			if line[i] == '>' || strings.IndexByte("-*+.)", line[i]) >= 0 && i+1 < len(line) && (line[i+1] == ' ' || line[i+1] == '\t') {
				nesting++
			}
		}
		if nesting > maxNesting || marks > maxMarks {
			return true
		}
	}
	return false
}

// RegisterFuncs implements [renderer.NodeRenderer]: of the library's renderer it replaces what could load something or lead
// anywhere, and headings.
func (m *markdownRenderer) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHeading, renderHeading)
	r.Register(ast.KindLink, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		writeLink(w, n.(*ast.Link).Destination, entering)
		return ast.WalkContinue, nil
	})
	r.Register(ast.KindImage, func(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
		writeLink(w, n.(*ast.Image).Destination, entering)
		return ast.WalkContinue, nil
	})
	r.Register(ast.KindAutoLink, renderAutoLink)
	r.Register(ast.KindParagraph, m.renderParagraph)
}

// renderHeading renders a heading of an answer below those of the page.
func renderHeading(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	const above = 2
	tag := "h" + string(rune('0'+min(6, n.(*ast.Heading).Level+above)))
	if entering {
		_, _ = w.WriteString("<" + tag + ">")
	} else {
		_, _ = w.WriteString("</" + tag + ">\n")
	}
	return ast.WalkContinue, nil
}

func renderAutoLink(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if n := node.(*ast.AutoLink); entering {
		url := n.URL(source)
		if n.AutoLinkType == ast.AutoLinkEmail {
			url = append([]byte("mailto:"), url...)
		}
		writeLink(w, url, true)
		textWriter{goldmarkhtml.DefaultWriter}.RawWrite(w, n.Label(source))
		writeLink(w, url, false)
	}
	return ast.WalkContinue, nil
}

// writeLink begins or ends a link. One that leads elsewhere than to the web or to an address for mail is a text.
func writeLink(w util.BufWriter, destination []byte, begin bool) {
	url := string(util.URLEscape(destination, true))
	tag := "span"
	for _, scheme := range []string{"http://", "https://", "mailto:"} {
		if len(url) > len(scheme) && strings.EqualFold(url[:len(scheme)], scheme) {
			tag = "a"
		}
	}
	switch {
	case !begin:
		_, _ = w.WriteString("</" + tag + ">")
	case tag == "a":
		_, _ = w.WriteString(`<a rel="noreferrer noopener" href="` + html.EscapeString(url) + `">`)
	default:
		_, _ = w.WriteString("<span>")
	}
}

// textWriter writes texts of goldmark. It replaces character references first, as the page must not have those characters either that
// [output.SanitizeLines] removes.
type textWriter struct{ goldmarkhtml.Writer }

// Write writes a text that may have backslashes and character references.
func (t textWriter) Write(w util.BufWriter, source []byte) {
	clean := output.SanitizeLines(html.UnescapeString(string(source)))
	t.Writer.Write(w, []byte(strings.ReplaceAll(clean, "&", "&amp;")))
}
