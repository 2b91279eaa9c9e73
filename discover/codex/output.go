package codex

import (
	"bytes"
	"strings"

	"agentctl/discover/native/jsonl"
	"agentctl/launch"
)

// ParseOutput parses the output of `codex exec --json`: events as JSON lines on stdout, the first of which names the thread, and on
// stderr the text of an error that keeps it from starting (SEEN 0.104, 0.169). Both may be in one file.
func (Adapter) ParseOutput(o launch.Output) launch.ParsedOutput {
	var parsed launch.ParsedOutput
	var lastError string // an error event, which a failed turn repeats
	completed := false   // the turn succeeded, whatever errors came before
	for line := range bytes.Lines(o.Stdout) {
		event := jsonl.Object(bytes.TrimSpace(line))
		if !event.Complete() {
			continue
		}
		switch event.Get("type").Text(0) {
		case "thread.started":
			if id := parseThreadID(event.Get("thread_id")); parsed.ID == "" {
				parsed.ID = id
			}
		case "turn.completed":
			completed = true
		case "turn.failed":
			parsed.Error = apiErrorMessage(event.Get("error").Object().Get("message").Text(errorLimit))
		case "error":
			lastError = apiErrorMessage(event.Get("message").Text(errorLimit))
		}
	}
	if completed {
		return launch.ParsedOutput{ID: parsed.ID}
	}
	if parsed.Error == "" {
		parsed.Error = stderrMessage(o.Stderr)
	}
	if parsed.Error == "" && !strings.HasPrefix(lastError, "Reconnecting...") {
		parsed.Error = lastError
	}
	return parsed
}

// errorLimit is the most characters of an error.
const errorLimit = 1000

// apiErrorMessage is the message of an API's error response, which Codex passes on unchanged (HTTP 400).
func apiErrorMessage(text string) string {
	answer := jsonl.Object(strings.TrimSpace(text))
	if !answer.Complete() {
		return text
	}
	for _, message := range []string{
		answer.Get("error").Object().Get("message").Text(errorLimit), answer.Get("message").Text(errorLimit), answer.Get("detail").Text(errorLimit),
	} {
		if message != "" {
			return message
		}
	}
	return text
}

// paragraphLimit is the most lines of an error on stderr.
const paragraphLimit = 20

// stderrMessage is the first paragraph on stderr that is about a failure. It skips events, the lines that Codex prints in every run, and
// the log.
func stderrMessage(stderr []byte) string {
	var words []string
	for line := range strings.Lines(string(stderr)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" && len(words) > 0, len(words) == paragraphLimit:
			return strings.Join(words, " ")
		case line == "" || strings.HasPrefix(line, "{") || strings.HasPrefix(line, "WARNING: ") ||
			strings.HasPrefix(line, "Reading ") || isLogLine(line):
		case len(words) == 0:
			line = strings.TrimPrefix(line, "Error: ")
			words = append(words, strings.TrimPrefix(line, "error: "))
		default:
			words = append(words, line)
		}
	}
	return strings.Join(words, " ")
}

// isLogLine reports whether a line is from the log: "2026-11-20T19:09:05.651Z ERROR codex_core…".
func isLogLine(line string) bool {
	stamp, _, _ := strings.Cut(line, " ")
	return len(stamp) > len("2026-11-20T19:09:05") && stamp[len("2026-11-20")] == 'T' && strings.HasSuffix(stamp, "Z")
}
