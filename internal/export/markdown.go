package export

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
)

// Markdown writes sessions as Markdown (CommonMark). Texts are block quotes, and what tools take and return are code blocks with a
// fence that is longer than any in them: so nothing in a message can end its block, or look like the header of another message.
func Markdown(w io.Writer, sessions []object.Export) error {
	m := markdown{bufio.NewWriterSize(w, 64<<10)}
	for i, e := range sessions {
		if i > 0 {
			m.WriteString("\n")
		}
		m.session(e, 1)
	}
	return m.Flush()
}

// markdown keeps its first error for Flush.
type markdown struct{ *bufio.Writer }

// maxHeading is the least heading of Markdown.
const maxHeading = 6

func (w markdown) session(e object.Export, level int) {
	name := title(e.Session)
	if level > 1 {
		name = "Sub-agent: " + name
	}
	w.heading(level, name)
	for _, f := range facts(e.Session) {
		fmt.Fprintf(w, "- %s: %s\n", f.Name, codeSpan(f.Value))
	}
	w.WriteString("\n")
	for _, missing := range e.Missing {
		fmt.Fprintf(w, "**Not in this export:** %s\n\n", escape(render.Sanitize(missing)))
	}
	children := childrenByPlace(e)
	w.children(children[-1], level)
	last := ""
	for i, m := range e.Messages {
		last = w.message(m, level+1, last)
		if len(children[i]) > 0 {
			w.children(children[i], level)
			last = ""
		}
	}
}

func (w markdown) children(list []object.Export, level int) {
	for _, c := range list {
		w.session(c, level+1)
	}
}

// heading writes a heading. Those below the least one that there is are bold.
func (w markdown) heading(level int, text string) {
	if level > maxHeading {
		fmt.Fprintf(w, "**%s**\n\n", escape(text))
		return
	}
	fmt.Fprintf(w, "%s %s\n\n", strings.Repeat("#", level), escape(text))
}

// message writes a message. It returns who says it: messages in a row of one speaker have one heading.
func (w markdown) message(m object.Message, level int, last string) string {
	who := heading(m)
	if who != last || m.Role == string(discover.RoleUser) {
		w.heading(level, strings.TrimSuffix(who+" · "+timeText(m.Time), " · "))
	}
	switch text := text(m); {
	case m.Tool != nil:
		w.call(m.Tool)
	case text != "":
		for line := range strings.SplitSeq(text, "\n") {
			w.WriteString(strings.TrimRight("> "+line, " ") + "\n")
		}
		w.WriteString("\n")
	}
	return who
}

func (w markdown) call(c *object.ToolCall) {
	line := "**" + escape(render.Sanitize(c.Name)) + "**"
	if brief := render.Sanitize(c.Brief); brief != "" {
		line += " " + codeSpan(brief)
	}
	if state := stateText(c); state != "" {
		line += " — " + escape(state)
	}
	w.WriteString(line + "\n\n")
	w.block("Input", input(c))
	w.block("Output", result(c))
}

func (w markdown) block(name, text string) {
	if text == "" {
		return
	}
	fence := strings.Repeat("`", max(3, longestRun(text, '`')+1))
	fmt.Fprintf(w, "%s:\n\n%stext\n%s\n%s\n\n", name, fence, text, fence)
}

// codeSpan is a text of one line as code, which has no markup.
func codeSpan(text string) string {
	fence := strings.Repeat("`", longestRun(text, '`')+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return fence + text + fence
}

func longestRun(text string, c rune) (longest int) {
	run := 0
	for _, r := range text {
		if r != c {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// escape is a text of one line without markup.
func escape(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r < 0x80 && strings.ContainsRune("\\`*_{}[]()<>#+!|~&$", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
