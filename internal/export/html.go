package export

import (
	"bufio"
	"cmp"
	_ "embed" // for go:embed
	"fmt"
	"io"
	"strings"
	"text/template"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
)

//go:embed page.html
var pageTemplates string

// HTML writes sessions as one page. It has no script, and a policy that forbids them; its only style is its own; and nothing in it
// is loaded. The templates escape all texts by html, but for the answers, which [prose] escapes. Texts stand in elements and in quoted
// attributes only, for which html is enough: html/template would add 190 KB to the program.
func HTML(w io.Writer, sessions []object.Export) error {
	p := &page{Writer: bufio.NewWriterSize(w, 64<<10), templates: template.Must(template.New("page").Parse(pageTemplates))}
	name := fmt.Sprintf("%d sessions", len(sessions))
	if len(sessions) == 1 {
		name = title(sessions[0].Session)
	}
	p.write("begin", name)
	for _, e := range sessions {
		p.WriteString("<section>\n")
		p.session(title(e.Session), e)
		p.WriteString("</section>\n")
	}
	p.WriteString("</body>\n</html>\n")
	return cmp.Or(p.err, p.Flush())
}

// page keeps its first error.
type page struct {
	*bufio.Writer
	templates *template.Template
	err       error
}

func (p *page) write(name string, data any) {
	if p.err == nil {
		p.err = p.templates.ExecuteTemplate(p.Writer, name, data)
	}
}

type sessionView struct {
	Title   string // "" if it is shown already
	Facts   []fact
	Missing []string
}

func (p *page) session(title string, e object.Export) {
	view := sessionView{Title: title, Facts: facts(e.Session)}
	for _, m := range e.Missing {
		view.Missing = append(view.Missing, render.Sanitize(m))
	}
	p.write("session", view)
	children := childrenByPlace(e)
	p.children(children[-1])
	last := ""
	for i, m := range e.Messages {
		if p.err != nil {
			return
		}
		last = p.message(m, last)
		p.children(children[i])
	}
}

func (p *page) children(list []object.Export) {
	for _, c := range list {
		p.write("child", title(c.Session))
		p.session("", c)
		p.WriteString("</div>\n</details>\n")
	}
}

type headerView struct{ Class, Who, Time string }

type textView struct {
	Class string
	Text  string // of the template "text": HTML
}

type callView struct {
	Name, Brief, State string
	Bad                bool
	Input, Output      string
}

// message writes a message. It returns who says it: messages in a row of one speaker have one header.
func (p *page) message(m object.Message, last string) string {
	who := heading(m)
	class := strings.ToLower(strings.Fields(who)[0])
	if who != last || m.Role == string(discover.RoleUser) {
		p.write("header", headerView{class, who, timeText(m.Time)})
	}
	if m.Tool != nil {
		p.call(m.Tool)
		return who
	}
	switch text := text(m); {
	case text == "":
	case m.Role == string(discover.RoleAssistant), m.Kind == string(discover.KindCompaction):
		p.write("text", textView{class, prose(text)})
	default:
		p.write("plain", textView{class, text})
	}
	return who
}

func (p *page) call(c *object.ToolCall) {
	v := callView{Name: render.Sanitize(c.Name), Brief: render.Sanitize(c.Brief), State: render.StateText(c), Input: input(c), Output: result(c)}
	switch discover.ToolState(c.State) {
	case discover.ToolFailed, discover.ToolRefused, discover.ToolInterrupted:
		v.Bad = true
	}
	p.write("call", v)
}
