package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// maxSectionLines is the number of lines at which inputs, outputs and briefs are truncated.
const maxSectionLines = 10

// maxLines is the number of lines of such a text that are printed; 0: all.
func (t *Transcript) maxLines() int {
	if t.opts.Full || t.opts.Width == 0 {
		return 0
	}
	return maxSectionLines
}

// writeSection prints the input or the output of a tool under its name.
func (t *Transcript) writeSection(b *strings.Builder, name, text string) {
	if text == "" {
		return
	}
	b.WriteString("    " + t.colored("2", name) + "\n")
	t.writeLines(b, text, "      ", t.maxLines())
}

// writeLines prints a text, indented and wrapped. After limit lines it prints how much is omitted; 0 is no limit.
func (t *Transcript) writeLines(b *strings.Builder, text, indent string, limit int) {
	rest := strings.Split(strings.TrimRight(SanitizeLines(text), "\n"), "\n")
	for n := 0; len(rest) > 0; rest = rest[1:] {
		parts := []string{rest[0]}
		if t.opts.Width > 0 {
			parts = wrap(rest[0], t.opts.Width-len(indent))
		}
		for i, part := range parts {
			if limit > 0 && n == limit {
				b.WriteString(indent + t.colored("2", omittedText(parts[i:], rest)) + "\n")
				return
			}
			b.WriteString(strings.TrimRight(indent+part, " ") + "\n")
			n++
		}
	}
}

// omittedText says how much of a text is omitted: a number of lines, or the rest of the last line.
func omittedText(parts, lines []string) string {
	if n := len(lines); n > 1 {
		return fmt.Sprintf("… %d more lines", n)
	}
	return fmt.Sprintf("… %d more characters", len([]rune(strings.Join(parts, " "))))
}

// InputText formats the input of a tool: one line a member of a JSON object, and texts of several lines below
// their names.
func InputText(raw json.RawMessage) string {
	var b strings.Builder
	dec := json.NewDecoder(bytes.NewReader(raw))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return valueText(raw)
	}
	for dec.More() {
		var value json.RawMessage
		name, err := dec.Token()
		if err != nil || dec.Decode(&value) != nil {
			return valueText(raw)
		}
		text := strings.TrimRight(valueText(value), "\n")
		if strings.Contains(text, "\n") {
			text = "\n  " + strings.ReplaceAll(text, "\n", "\n  ")
		}
		fmt.Fprintf(&b, "%v: %s\n", name, text)
	}
	return b.String()
}

// valueText is a JSON string without quotes, or any other value as JSON.
func valueText(raw json.RawMessage) string {
	var text *string
	if json.Unmarshal(raw, &text) == nil && text != nil {
		return *text
	}
	return string(raw)
}
