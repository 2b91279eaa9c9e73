package output

import (
	"bufio"
	"cmp"
	"io"
)

// Export is the JSON object of a session with all of its messages, the oldest first.
type Export struct {
	Session  Session   `json:"session"`
	Messages []Message `json:"messages"`
	// Missing says what could not be read or was left out, the newest first.
	Missing []string `json:"missing,omitempty"`
	// Children are the sub-agents' sessions, in the order in which they began.
	Children []Export `json:"children,omitempty"`
}

// ExportJSON writes each session as one object: a single one with a line for each message, several with a line for each session.
// It writes one message after the other, because a session may take up a hundred megabytes.
func ExportJSON(w io.Writer, sessions []Export) error {
	b := bufio.NewWriterSize(w, 64<<10)
	lineBreak := "\n"
	if len(sessions) > 1 {
		lineBreak = ""
	}
	for _, e := range sessions {
		if err := writeExport(b, e, lineBreak); err != nil {
			return err
		}
		b.WriteByte('\n')
	}
	return b.Flush()
}

func writeExport(b *bufio.Writer, e Export, lineBreak string) error {
	b.WriteString(`{"session":`)
	err := writeValue(b, e.Session)
	list := func(n int, element func(i int) error) {
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(lineBreak)
			err = cmp.Or(err, element(i))
		}
		if n > 0 {
			b.WriteString(lineBreak)
		}
		b.WriteByte(']')
	}
	b.WriteString("," + lineBreak + `"messages":[`)
	list(len(e.Messages), func(i int) error { return writeValue(b, e.Messages[i]) })
	if len(e.Missing) > 0 {
		b.WriteString("," + lineBreak + `"missing":`)
		err = cmp.Or(err, writeValue(b, e.Missing))
	}
	if len(e.Children) > 0 {
		b.WriteString("," + lineBreak + `"children":[`)
		list(len(e.Children), func(i int) error { return writeExport(b, e.Children[i], lineBreak) })
	}
	b.WriteByte('}')
	return err
}

func writeValue(b *bufio.Writer, v any) error {
	text, err := marshal(v, "")
	b.Write(text)
	return err
}
