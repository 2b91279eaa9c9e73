package codex

import (
	"bytes"
	"strings"

	"agentctl/discover/codex/transcript"
	"agentctl/discover/native/jsonl"
	"agentctl/launch"
)

// ParseOutput reads what `codex exec --json` prints: events as JSON lines on stdout, of which the first names the thread; what
// keeps it from starting, as text on stderr (SEEN 0.104, 0.169). Both may be in one file.
func (Adapter) ParseOutput(o launch.Output) launch.ParsedOutput {
	var said launch.ParsedOutput
	var passing string // an error that is said again if the turn fails of it
	completed := false // whatever else was said, the turn ended well
	for line := range bytes.Lines(o.Stdout) {
		event := jsonl.Object(bytes.TrimSpace(line))
		if !event.Complete() {
			continue
		}
		switch event.Get("type").Text(0) {
		case "thread.started":
			if id := transcript.ParseThreadID(event.Get("thread_id")); said.ID == "" {
				said.ID = id
			}
		case "turn.completed":
			completed = true
		case "turn.failed":
			said.Error = apiErrorMessage(event.Get("error").Object().Get("message").Text(errorLimit))
		case "error":
			passing = apiErrorMessage(event.Get("message").Text(errorLimit))
		}
	}
	if completed {
		return launch.ParsedOutput{ID: said.ID}
	}
	if said.Error == "" {
		said.Error = stderrMessage(o.Stderr)
	}
	if said.Error == "" && !strings.HasPrefix(passing, "Reconnecting...") {
		said.Error = passing
	}
	return said
}

// errorLimit is the most characters of an error that are kept.
const errorLimit = 1000

// apiErrorMessage is the message in an API's own answer, which Codex passes on as it is (HTTP 400).
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

// paragraphLimit is the most lines of a complaint that are kept.
const paragraphLimit = 20

// stderrMessage is the first paragraph on stderr that is about a failure: neither events, nor what is printed whenever Codex
// runs, nor the log of what it goes on after.
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

// isLogLine reports whether a line is one of the log: "2026-11-20T19:09:05.651Z ERROR codex_core…".
func isLogLine(line string) bool {
	stamp, _, _ := strings.Cut(line, " ")
	return len(stamp) > len("2026-11-20T19:09:05") && stamp[len("2026-11-20")] == 'T' && strings.HasSuffix(stamp, "Z")
}
