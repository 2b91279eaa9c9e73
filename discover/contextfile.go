package discover

import "strings"

// The lines around a file that a launch puts before the prompt.
const (
	contextBegin = "--- File: "
	contextEnd   = "\n--- End File ---"
)

// FormatContextFile returns a file as a launch puts it before a prompt.
func FormatContextFile(name, text string) string {
	return contextBegin + name + " ---\n" + strings.TrimRight(text, "\n") + contextEnd
}

// HasContextFile reports whether a prompt begins with a file. The beginning of the prompt is enough.
func HasContextFile(prompt string) bool {
	return strings.HasPrefix(strings.TrimLeft(prompt, " \t\r\n"), contextBegin)
}

// StripContextFiles returns a whole prompt without the files before it. A prompt that consists of files only, or in which a
// file does not end, stays as it is.
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
