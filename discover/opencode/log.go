package opencode

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/proc"
)

// logLine is a line of the shared log.
type logLine struct {
	run, session string
	role         string // "cli" or "server", in lines of OpenCode 2
	permission   string // of a request for permission
	isInfo       bool   // its level is INFO, as that of requests for permission
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

// showsMoreThan reports whether an event in the log, rather than another one, shows the state of a session's turn: one about the turn itself,
// else the newer one by its time.
func (l logEvent) showsMoreThan(o logEvent) bool {
	return o.at.IsZero() || o.auxiliary && !l.auxiliary || l.auxiliary == o.auxiliary && l.at.After(o.at)
}

// lineTime returns the time at the beginning of a line; zero for a line of a stack trace.
func lineTime(line []byte) time.Time {
	rest, _ := bytes.CutPrefix(line, []byte("timestamp="))
	stamp, _, _ := bytes.Cut(rest, []byte(" "))
	at, _ := time.Parse(time.RFC3339Nano, string(stamp)) // zero if that is no time
	return at
}

// parseLogLine parses a line of the shared log (1.17 and later), such as
//
//	timestamp=2026-11-20T19:26:37.928Z level=INFO run=e5f72788 message=loop session.id=ses_… step=0
//	timestamp=… level=ERROR run=… message="stream error" … session.id=ses_… small=false … error.error="AI_APICallError: …"
//
// The run has worked on a session if the line is about it (session.id) or about its creation (message=created id=). Titles and errors are
// quoted texts; the session IDs in them do not count.
func parseLogLine(line []byte) (out logLine) {
	if out.at = lineTime(line); out.at.IsZero() {
		return logLine{}
	}
	var message string
	isError := false
	for key, value := range fields(string(line)) {
		switch key {
		case "run":
			out.run = value
		case "role":
			out.role = value
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
		case "permission":
			out.permission = value
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
	if name, message, ok := strings.Cut(text, ": "); ok && !strings.Contains(name, " ") {
		text = message
	}
	return discover.Truncate(strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\n`, " ").Replace(text), retryErrorLimit)
}

// fields yields the key=value pairs of a line. A value with spaces is quoted, with \" for a quote.
func fields(line string) iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		for key, rest, ok := strings.Cut(line, "="); ok; key, rest, ok = strings.Cut(rest, "=") {
			var value string
			if inner, quoted := strings.CutPrefix(rest, `"`); quoted {
				end := quoteEnd(inner)
				value, rest = inner[:end], strings.TrimPrefix(inner[min(end+1, len(inner)):], " ")
			} else {
				value, rest, _ = strings.Cut(rest, " ")
			}
			if !yield(key, value) {
				return
			}
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

// Bounds of the reading of a log. The last lines that a process wrote name its run, and lines older than the process do not concern it.
const (
	maxLastLines = 1 << 20
	maxLog       = 256 << 20
	// maxSilentSearch is how far back a log is read only for which runs had which sessions: a process that writes nothing may be days old.
	maxSilentSearch = 2 << 20
	// clockSlack is how far the time in a line and the start time of a process may differ. The latter is exact to a second.
	clockSlack = 5 * time.Second
)

// logHandle is a shared log that one process has open.
type logHandle struct {
	process *loggedProcess
	file    proc.OpenFile
	last    logLine // that the process has written; its run is "" if there is none
}

// readLogs finds the sessions of each process in its logs. It opens only logs of listed homes.
func (scan *processScan) readLogs() {
	shared := map[string][]logHandle{}
	for _, p := range scan.processes {
		if !p.stored.listed() {
			continue
		}
		scan.readProcessLogs(p)
		for _, f := range p.files {
			// A terminal interface opens the log twice, and writes to one of the two files. A log that the process has written nothing into still
			// shows which sessions belong to other processes.
			isWritten := func(o proc.OpenFile) bool { return o.Path == f.Path && o.Offset > 0 }
			if !isLog(f.Path) || !isSharedLog(f.Path) || f.Offset == 0 && slices.ContainsFunc(p.files, isWritten) {
				continue
			}
			key := f.Path
			if f.Deleted || f.PathDiffers {
				key = f.Proc
			}
			shared[key] = append(shared[key], logHandle{process: p, file: f})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(shared)) {
		scan.warn(shared[key][0].file.Path, scan.readSharedLog(shared[key]))
	}
}

// readSharedLog reads a log for all processes that write it. The offsets were read before the log is opened, so the log has all that they
// point to.
func (scan *processScan) readSharedLog(handles []logHandle) error {
	log, err := openLog(scan.ctx, handles[0].process.home, handles[0].file)
	if err != nil {
		return err
	}
	defer log.Close()
	runs := map[string]time.Time{}
	for i := range handles {
		h := &handles[i]
		if h.last, err = lastRun(log, h.file.Offset); err != nil {
			return err
		}
		if started, ok := runs[h.last.run]; !ok || h.process.Started.Before(started) {
			runs[h.last.run] = h.process.Started
		}
	}
	history, err := readLogHistory(log, runs)
	if err != nil {
		return err
	}
	for _, h := range handles {
		p := h.process
		p.history, p.writesSharedLog = history, true
		if h.last.run == "" {
			continue
		}
		p.hasLog, p.lastLine, p.logKind = true, h.last, "log-offset"
		p.logDetail = fmt.Sprintf("wrote %s up to byte %d as run=%s, which names the session", h.file.Path, h.file.Offset, h.last.run)
		maps.Copy(p.sessions, history.events[h.last.run])
	}
	return nil
}

// openLog opens a log that a process has open. If its path leads to another file now, openLog opens it through the process. It refuses a
// log outside of a home whose links may not be followed.
func openLog(ctx context.Context, home string, f proc.OpenFile) (*storage.File, error) {
	switch {
	case !f.PathDiffers && storage.Escapes(ctx, home, f.Path):
		return nil, storage.ErrEscapes
	case f.Proc != "":
		return storage.OpenLink(ctx, f.Proc)
	case f.Deleted:
		return nil, os.ErrNotExist
	}
	return storage.Open(ctx, f.Path)
}

// lastRun returns the last line that the process wrote which wrote the bytes before the offset: the last one that names a run. Only a stack
// trace may follow it.
func lastRun(log *storage.File, offset int64) (last logLine, err error) {
	_, err = log.Head(offset).Backward(maxLastLines, func(l storage.Line) bool {
		last = parseLogLine(l.Bytes)
		return last.run == ""
	})
	return last, err
}

// logHistory is what a log says of all sessions and runs.
type logHistory struct {
	newest map[string]logLine             // by session, the newest line about it
	events map[string]map[string]logEvent // by run and session, the newest event; of the runs that were asked for
	// requests are the requests of each run for permission, newest first. A run that logs requests has an entry, even if it has made none.
	requests map[string][]logLine
}

// readLogHistory reads a log back to the oldest start of the runs' processes.
func readLogHistory(log *storage.File, runs map[string]time.Time) (logHistory, error) {
	history := logHistory{newest: map[string]logLine{}, events: map[string]map[string]logEvent{}, requests: map[string][]logLine{}}
	named, silent := time.Now(), time.Now() // the oldest start of a process with a run, and of one that has written nothing
	for run, started := range runs {
		history.events[run] = map[string]logEvent{}
		if run == "" {
			silent = started
		} else if started.Before(named) {
			named = started
		}
	}
	_, err := log.Backward(maxLog, func(l storage.Line) bool {
		oldest := named
		if silent.Before(named) && log.Size()-l.Offset <= maxSilentSearch {
			oldest = silent
		}
		if at := lineTime(l.Bytes); !at.IsZero() && at.Before(oldest.Add(-clockSlack)) {
			return false
		}
		if isPermissionRequest(l.Bytes) {
			if line := parseLogLine(l.Bytes); len(history.requests[line.run]) < maxRequests {
				history.requests[line.run] = append(history.requests[line.run], line)
			}
		} else if bytes.Contains(l.Bytes, []byte(sessionPrefix)) {
			history.add(parseLogLine(l.Bytes))
		}
		return true
	})
	return history, err
}

// add adds a line, also to the events if it is about a session of one of their runs.
func (l *logHistory) add(line logLine) {
	if _, ok := l.requests[line.run]; !ok && line.isInfo {
		l.requests[line.run] = nil
	}
	if line.session == "" {
		return
	}
	if line.at.After(l.newest[line.session].at) {
		l.newest[line.session] = line
	}
	if of, ok := l.events[line.run]; ok && line.showsMoreThan(of[line.session]) {
		of[line.session] = line.logEvent
	}
}
