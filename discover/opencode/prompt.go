package opencode

import (
	"strings"

	"agentctl/discover"
)

// promptText returns a record's prompt, from the first text that the user wrote.
func promptText(text string) string {
	return discover.Truncate(unquoteArg(text), discover.PromptLimit)
}

// unquoteArg removes the quotes that `opencode run` puts around an argument with a space in it. It changes only a text that is one such
// argument. 1.1 stores a newline after the argument, and before what it read from its standard input.
func unquoteArg(text string) string {
	text = strings.TrimRight(strings.TrimPrefix(text, "\n"), "\n")
	inner, ok := strings.CutPrefix(text, `"`)
	if !ok {
		return text
	}
	var out strings.Builder
	for i := 0; i < len(inner); i++ {
		switch {
		case strings.HasPrefix(inner[i:], `\"`):
			i++
		case inner[i] == '"':
			if i == len(inner)-1 {
				return out.String()
			}
			return text
		}
		out.WriteByte(inner[i])
	}
	return out.String() // the text was cut before the closing quote
}
