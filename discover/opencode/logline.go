package opencode

import (
	"bytes"
	"iter"
	"strings"
	"time"

	"agentctl/discover"
)

// logLine is a line of the shared log.
type logLine struct {
	run, session string
	isInfo       bool // its level is INFO, as that of requests for permission
	logEvent
}

// logEvent is what a line of the log says of a session.
type logEvent struct {
	at time.Time
	// ended: the turn ended ("exiting loop", "cancel", or an error of "process", as one that was aborted). Any other event means that a turn may
	// be in progress.
	ended bool
	// retryError is the error of the API after which the agent waits to try again.
	retryError string
	// auxiliary: the line is about a small task beside the turn, such as a title.
	auxiliary bool
}

// decisive returns which of two events in the log shows the state of a session's turn: the one that is about the turn itself, else the newer
// one by its time. later is the zero value if there is only one event.
func decisive(earlier, later logEvent) logEvent {
	if later.at.IsZero() || earlier.auxiliary == later.auxiliary && earlier.at.After(later.at) || later.auxiliary && !earlier.auxiliary {
		return earlier
	}
	return later
}

// lineTime returns the time at the beginning of a line; zero for a line of a stack trace.
func lineTime(line []byte) time.Time {
	rest, ok := bytes.CutPrefix(line, []byte("timestamp="))
	if !ok {
		return time.Time{}
	}
	stamp, _, _ := bytes.Cut(rest, []byte(" "))
	at, err := time.Parse(time.RFC3339Nano, string(stamp))
	if err != nil {
		return time.Time{}
	}
	return at
}

// parseLogLine parses a line of the shared log (1.17 and later), such as
//
//	timestamp=2026-11-20T19:26:37.928Z level=INFO run=e5f72788 message=loop session.id=ses_… step=0
//	timestamp=… level=ERROR run=… message="stream error" … session.id=ses_… small=false … error.error="AI_APICallError: …"
//
// The run has worked on a session if the line is about it (session.id) or about its creation (message=created id=). Titles and errors are
// quoted texts; the session IDs in them do not count.
func parseLogLine(line []byte) logLine {
	at := lineTime(line)
	if at.IsZero() {
		return logLine{}
	}
	out := logLine{logEvent: logEvent{at: at}}
	var message string
	isError := false
	for key, value := range fields(string(line)) {
		switch key {
		case "run":
			out.run = value
		case "level":
			out.isInfo, isError = value == "INFO", value == "ERROR"
		case "message":
			message = value
		case "session.id", "sessionID":
			out.session = value
		case "id":
			if message == "created" {
				out.session = value
			}
		case "small":
			out.auxiliary = value == "true"
		case "error.error":
			if message == "stream error" {
				out.retryError = apiError(value)
			}
		}
		if out.session != "" && message != "" && out.run != "" && message != "stream" && message != "stream error" {
			break
		}
	}
	if !isSessionID(out.session) {
		out.session = ""
	}
	out.ended = message == "exiting loop" || message == "cancel" || message == "process" && isError
	return out
}

// retryErrorLimit is how many characters of an API error are kept.
const retryErrorLimit = 200

// apiError returns the text of an API error, without its name and without escapes.
func apiError(text string) string {
	name, message, ok := strings.Cut(text, ": ")
	if !ok || strings.Contains(name, " ") {
		message = text
	}
	return discover.Truncate(strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\n`, " ").Replace(message), retryErrorLimit)
}

// fields yields the key=value pairs of a line. A value with spaces is quoted, with \" for a quote.
func fields(line string) iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		for line != "" {
			key, rest, ok := strings.Cut(line, "=")
			if !ok {
				return
			}
			var value string
			if inner, quoted := strings.CutPrefix(rest, `"`); quoted {
				end := quoteEnd(inner)
				value, rest = inner[:end], inner[min(end+1, len(inner)):]
				rest = strings.TrimPrefix(rest, " ")
			} else {
				value, rest, _ = strings.Cut(rest, " ")
			}
			if !yield(key, value) {
				return
			}
			line = rest
		}
	}
}

// quoteEnd returns the index of the closing quote.
func quoteEnd(s string) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(s)
}
