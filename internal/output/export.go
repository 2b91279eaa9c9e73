package output

import (
	"bufio"
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
	if err := writeValue(b, e.Session); err != nil {
		return err
	}
	b.WriteString("," + lineBreak + `"messages":[`)
	if err := writeList(b, e.Messages, lineBreak, writeValue); err != nil {
		return err
	}
	b.WriteString("]")
	if len(e.Missing) > 0 {
		b.WriteString("," + lineBreak + `"missing":`)
		if err := writeValue(b, e.Missing); err != nil {
			return err
		}
	}
	if len(e.Children) > 0 {
		b.WriteString("," + lineBreak + `"children":[`)
		write := func(b *bufio.Writer, e Export) error { return writeExport(b, e, lineBreak) }
		if err := writeList(b, e.Children, lineBreak, write); err != nil {
			return err
		}
		b.WriteString("]")
	}
	b.WriteString("}")
	return nil
}

func writeList[T any](b *bufio.Writer, list []T, lineBreak string, write func(*bufio.Writer, T) error) error {
	for i, v := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(lineBreak)
		if err := write(b, v); err != nil {
			return err
		}
	}
	if len(list) > 0 {
		b.WriteString(lineBreak)
	}
	return nil
}

func writeValue[T any](b *bufio.Writer, v T) error {
	text, err := marshal(v, "")
	b.Write(text)
	return err
}
