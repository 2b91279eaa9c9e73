package opencode

import (
	"bytes"
	"context"
	"iter"
	"os"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
	"agentctl/proc"
)

// Bounds of reading a log: the run's name stands in the last lines that its process wrote, and nothing older than the
// process concerns it.
const (
	maxLastLines = 1 << 20
	maxLog       = 256 << 20
	// maxCreatorSearch is how far back it is read for nothing but who made which session: a process that writes nothing may be days old.
	maxCreatorSearch = 2 << 20
	// clockSlack is how far the time in a line and the start of a process, which is known to a second, may differ.
	clockSlack = 5 * time.Second
	// maxLogDelay is more than a line ever was late (SEEN 1.18.33: two seconds).
	maxLogDelay = 30 * time.Second
	// errorLimit is how many characters are kept of an error that the agent tries again after.
	errorLimit = 200
)

// logEvent is the last thing that a log says of a session in a run.
type logEvent struct {
	at time.Time
	// ended: the turn ended ("exiting loop", "cancel"); anything else says that one is, or may be, going on.
	ended bool
	// retryError is the API's error, while the agent waits to ask it again.
	retryError string
	// auxiliary: it is of a small task beside the turn, a title say.
	auxiliary bool
}

// newer returns which of two mentions tells how the turn stands.
func (m logEvent) newer(old logEvent) logEvent {
	if m.auxiliary == old.auxiliary && m.at.After(old.at) || old.auxiliary && !m.auxiliary {
		return m
	}
	return old
}

// logLine is a line of the shared log that names a session.
type logLine struct {
	run, session string
	created      bool // the run made it
	isInfo       bool // it is of the level that requests for permission have
	logEvent
}

// openLog opens a log as a process has it open, up to the given offset: where the name is gone or another file has
// it now, through the process. One that is not in the process's home is not opened where that must not be left.
func openLog(ctx context.Context, home string, f proc.OpenFile) (*fsread.File, error) {
	if !f.PathDiffers && fsread.Escapes(ctx, home, f.Path) {
		return nil, fsread.ErrEscapes
	}
	if f.Proc == "" {
		if f.Deleted {
			return nil, os.ErrNotExist
		}
		return fsread.Open(ctx, f.Path)
	}
	return fsread.OpenLink(ctx, f.Proc)
}

// lastRun finds the run of the process that wrote the bytes before offset, and when it logged the last of them: the last
// line before it that names a run. The lines after it in the same block are the rest of a stack trace.
func lastRun(log *fsread.File, offset int64) (run string, at time.Time, err error) {
	_, err = log.Head(offset).Backward(maxLastLines, func(l fsread.Line) bool {
		line := parseLogLine(l.Bytes)
		run, at = line.run, line.at
		return run == ""
	})
	return run, at, err
}

// logHistory is what the log says of each session, whichever run it was.
type logHistory struct {
	creators map[string]string  // the run that made it
	newest   map[string]logLine // the newest line about it
	// requests are those of each run for permission, the newest first; a run that writes what is below an error is in it,
	// also without any.
	requests map[string][]permissionRequest
}

// readLogEvents collects what the log says of sessions in the given runs, down to the start of each one's process: the
// newest mention of each session counts.
func readLogEvents(log *fsread.File, runs map[string]time.Time) (out map[string]map[string]logEvent, all logHistory, err error) {
	out, all = map[string]map[string]logEvent{}, logHistory{creators: map[string]string{}, newest: map[string]logLine{}, requests: map[string][]permissionRequest{}}
	named, silent := time.Now(), time.Now() // the oldest start of a run that has a name, of one that has none
	for run, started := range runs {
		out[run] = map[string]logEvent{}
		earliest := &named
		if run == "" {
			earliest = &silent
		}
		if started.Before(*earliest) {
			*earliest = started
		}
	}
	_, err = log.Backward(maxLog, func(l fsread.Line) bool {
		oldest := named
		if silent.Before(named) && log.Size()-l.Offset <= maxCreatorSearch {
			oldest = silent
		}
		if at := lineTime(l.Bytes); !at.IsZero() && at.Before(oldest.Add(-clockSlack)) {
			return false
		}
		if isPermissionRequest(l.Bytes) {
			if run, r := parsePermissionRequest(l.Bytes); len(all.requests[run]) < maxRequests {
				all.requests[run] = append(all.requests[run], r)
			}
			return true
		}
		if !bytes.Contains(l.Bytes, []byte(sessionPrefix)) {
			return true
		}
		line := parseLogLine(l.Bytes)
		if _, ok := all.requests[line.run]; !ok && line.isInfo {
			all.requests[line.run] = nil
		}
		if line.created {
			all.creators[line.session] = line.run
		}
		if line.session != "" && line.at.After(all.newest[line.session].at) {
			all.newest[line.session] = line
		}
		sessions, wanted := out[line.run]
		if !wanted || line.session == "" {
			return true
		}
		if old, seen := sessions[line.session]; seen {
			line.logEvent = line.newer(old)
		}
		sessions[line.session] = line.logEvent
		return true
	})
	return out, all, err
}

// lineTime is the time a line of the shared log begins with; zero for the rest of a stack trace.
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

// parseLogLine reads one line of the shared log (1.17 and later), as in
//
//	timestamp=2026-11-20T19:26:37.928Z level=INFO run=e5f72788 message=loop session.id=ses_… step=0
//	timestamp=… level=ERROR run=… message="stream error" … session.id=ses_… small=false … error.error="AI_APICallError: …"
//
// A session counts as the run's own where the line is about it (session.id) or about making it (message=created id=).
// Titles and errors hold free text, in quotes: what stands in them is none of the line's fields.
func parseLogLine(line []byte) logLine {
	at := lineTime(line)
	if at.IsZero() {
		return logLine{}
	}
	out := logLine{logEvent: logEvent{at: at}}
	var message string
	for key, value := range fields(string(line)) {
		switch key {
		case "run":
			out.run = value
		case "level":
			out.isInfo = value == "INFO"
		case "message":
			message = value
		case "session.id", "sessionID":
			out.session = value
		case "id":
			if message == "created" {
				out.session, out.created = value, true
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
		out.session, out.created = "", false
	}
	out.ended = message == "exiting loop" || message == "cancel"
	return out
}

// apiError is an error in the API's words, without the name of its kind and the quotes' escapes.
func apiError(text string) string {
	kind, words, ok := strings.Cut(text, ": ")
	if !ok || strings.Contains(kind, " ") {
		words = text
	}
	return discover.Truncate(strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\n`, " ").Replace(words), errorLimit)
}

// fields yields the key=value pairs of a line; a value with spaces in it is quoted, with \" for a quote.
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

// quoteEnd is where the quoted text ends.
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
