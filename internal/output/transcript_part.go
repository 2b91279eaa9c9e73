package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// shortPart is how many lines are shown of what need not be read whole.
const shortPart = 10

// most is how many lines of such a text are shown; 0: all.
func (t *Transcript) most() int {
	if t.look.Whole || t.look.Width == 0 {
		return 0
	}
	return shortPart
}

// part adds what a tool was called with, or what it returned, under its name.
func (t *Transcript) part(b *strings.Builder, name, text string) {
	if text == "" {
		return
	}
	b.WriteString("    " + t.paint("2", name) + "\n")
	t.lines(b, text, "      ", t.most())
}

// lines adds a text, indented, in lines that fit. Of one that has more than so many lines it says what is left out.
func (t *Transcript) lines(b *strings.Builder, text, indent string, most int) {
	left := strings.Split(strings.TrimRight(CleanText(text), "\n"), "\n")
	for n := 0; len(left) > 0; left = left[1:] {
		parts := []string{left[0]}
		if t.look.Width > 0 {
			parts = wrap(left[0], t.look.Width-len(indent))
		}
		for i, part := range parts {
			if most > 0 && n == most {
				b.WriteString(indent + t.paint("2", leftOut(parts[i:], left)) + "\n")
				return
			}
			b.WriteString(strings.TrimRight(indent+part, " ") + "\n")
			n++
		}
	}
}

// leftOut says how much of a text is not shown: whole lines, or the rest of the last one.
func leftOut(parts, lines []string) string {
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
