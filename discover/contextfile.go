package discover

import "strings"

// What stands around a file that a launch puts before the prompt, for the agent to know.
const (
	contextBegin = "--- File: "
	contextEnd   = "\n--- End File ---"
)

// FormatContextFile is a file as it stands before a prompt.
func FormatContextFile(name, text string) string {
	return contextBegin + name + " ---\n" + strings.TrimRight(text, "\n") + contextEnd
}

// HasContextFile reports whether a prompt, of which this may be the beginning alone, begins with a file.
func HasContextFile(prompt string) bool {
	return strings.HasPrefix(strings.TrimLeft(prompt, " \t\r\n"), contextBegin)
}

// StripContextFiles is a whole prompt without the files before it: what the person asked. A prompt that is nothing else, or in
// which a file does not end, stays as it is.
func StripContextFiles(prompt string) string {
	rest := prompt
	for HasContextFile(rest) {
		_, after, ok := strings.Cut(rest, contextEnd)
		if !ok {
			return prompt
		}
		rest = after
	}
	if rest = strings.TrimLeft(rest, " \t\r\n"); rest == "" {
		return prompt
	}
	if len(rest) == len(strings.TrimLeft(prompt, " \t\r\n")) {
		return prompt // there was no file
	}
	return rest
}
