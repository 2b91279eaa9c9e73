package opencode

import (
	"strings"

	"agentctl/discover"
)

// prompt makes a record's prompt of a stored user text.
func prompt(text string) string {
	return discover.Truncate(unquoteArg(text), discover.PromptLimit)
}

// unquoteArg takes off the quotes that `opencode run` puts around an argument with a space in it. Only a text that is one
// such argument is changed; 1.1 puts a newline after it, and before what it read from its standard input.
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
	return out.String() // cut before its end
}

// quoteArgs joins arguments as `opencode run` does for the prompt it stores.
func quoteArgs(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		if out[i] = w; strings.Contains(w, " ") {
			out[i] = `"` + strings.ReplaceAll(w, `"`, `\"`) + `"`
		}
	}
	return strings.Join(out, " ")
}
