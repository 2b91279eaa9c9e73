package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// maxSectionLines is how many lines are shown of what need not be read whole.
const maxSectionLines = 10

// maxLines is how many lines of such a text are shown; 0: all.
func (t *Transcript) maxLines() int {
	if t.opts.Full || t.opts.Width == 0 {
		return 0
	}
	return maxSectionLines
}

// writeSection adds what a tool was called with, or what it returned, under its name.
func (t *Transcript) writeSection(b *strings.Builder, name, text string) {
	if text == "" {
		return
	}
	b.WriteString("    " + t.colored("2", name) + "\n")
	t.writeLines(b, text, "      ", t.maxLines())
}

// writeLines adds a text, indented, in lines that fit. Of one that has more than so many lines it says what is left out.
func (t *Transcript) writeLines(b *strings.Builder, text, indent string, most int) {
	left := strings.Split(strings.TrimRight(SanitizeLines(text), "\n"), "\n")
	for n := 0; len(left) > 0; left = left[1:] {
		parts := []string{left[0]}
		if t.opts.Width > 0 {
			parts = wrap(left[0], t.opts.Width-len(indent))
		}
		for i, part := range parts {
			if most > 0 && n == most {
				b.WriteString(indent + t.colored("2", omittedText(parts[i:], left)) + "\n")
				return
			}
			b.WriteString(strings.TrimRight(indent+part, " ") + "\n")
			n++
		}
	}
}

// omittedText says how much of a text is not shown: whole lines, or the rest of the last one.
func omittedText(parts, lines []string) string {
	if n := len(lines); n > 1 {
		return fmt.Sprintf("… %d more lines", n)
	}
	return fmt.Sprintf("… %d more characters", len([]rune(strings.Join(parts, " "))))
}

// inputText is what a tool was called with, for people: of an object one line a member, longer texts below their names.
func inputText(raw json.RawMessage) string {
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

// valueText is a text itself, or any other value as JSON.
func valueText(raw json.RawMessage) string {
	var text *string
	if json.Unmarshal(raw, &text) == nil && text != nil {
		return *text
	}
	return string(raw)
}
