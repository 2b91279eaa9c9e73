package render

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"agentctl/internal/object"
)

// Request writes a request to the user as text. No line of what the session itself says begins like one of ours: each has a bar before it, or the
// name of what it is.
func Request(w io.Writer, r *object.Request, opts TextOptions) error {
	out := bufio.NewWriter(w)
	line := func(name, text string) {
		if text = Sanitize(text); text != "" {
			fmt.Fprintf(out, "%-9s  %s\n", name, text)
		}
	}
	line("session", fmt.Sprintf("%s %s in %s", r.Session.Adapter, r.Session.Name(), opts.ShortDir(r.Session.CWD)))
	line("title", r.Session.Title)
	line("asks", r.Kind+": "+r.Tool)
	line("request", r.ID)
	line("reason", r.Reason)
	line("directory", r.CWD)
	if len(r.Questions) == 0 && r.Text != "" {
		bar(out, r.Text)
	}
	if SanitizeLines(r.Text) != r.Text {
		line("left out", "control sequences or characters that hide text: --json has all")
	}
	for _, q := range r.Questions {
		line("question", q.Header)
		bar(out, q.Text)
		for _, c := range q.Choices {
			text := c.Label
			if c.Description != "" {
				text += " – " + c.Description
			}
			line("choice", text)
		}
		if q.Multiple {
			line("", "several choices may be taken, with commas between them")
		}
		if q.FreeText {
			line("", "a text of your own may be given instead")
		}
	}
	line("always", r.Always)
	line("no", r.No)
	line("no answer", r.Unanswerable)
	return out.Flush()
}

// bar writes a text of several lines, each after a bar.
func bar(w io.Writer, text string) {
	for l := range strings.Lines(SanitizeLines(text)) {
		fmt.Fprintf(w, "| %s\n", strings.TrimRight(l, "\n"))
	}
}

// ReplyText is what became of an answer, on one line.
func ReplyText(r *object.Request) string {
	what := r.Text
	if len(r.Questions) > 0 {
		what = r.Questions[0].Text
	}
	text := Sanitize(r.Session.Name()) + "  " + Sanitize(r.Reply) + ": " + Truncate(Sanitize(r.Tool+": "+what), replyWidth)
	if r.Reply == "always" {
		text += "\n" + Sanitize(r.Always)
	}
	return text
}

// replyWidth is the width of what was asked, in the line that says that it was answered.
const replyWidth = 120
