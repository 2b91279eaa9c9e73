package opencode

import (
	"bytes"
	"slices"
	"strings"

	"agentctl/discover/native/fsread"
	"agentctl/discover/native/jsonl"
)

// processLogs is what the logs of a single process (before 1.17) tell together: one, or two of a TUI, whose worker thread opens
// a log named by the second in which it begins (SEEN 1.1.65).
type processLogs struct {
	sessions []string
	// starts counts the first lines of processes, each written once; matching those with the process's own arguments.
	starts, matching int
}

// exclusive reports whether one process wrote them all, the one with the arguments: processes started in the same second share
// a file, and truncate it (SEEN 1.1.65).
func (o *processLogs) exclusive() bool { return o.starts == 1 && o.matching == 1 }

// read adds what one log tells, and reports whether it names a session.
func (o *processLogs) read(log *fsread.File, args []string) (named bool, err error) {
	_, err = log.Forward(0, maxLog, func(l fsread.Line) bool {
		if theirs, ok := startArgs(l.Bytes); ok {
			if o.starts++; equalArgs(theirs, args) {
				o.matching++
			}
		}
		if id := processLogSession(l.Bytes); id != "" {
			named = true
			if !slices.Contains(o.sessions, id) {
				o.sessions = append(o.sessions, id)
			}
		}
		return true
	})
	return named, err
}

// startArgs reads the arguments in a process's first line: `… service=default version=1.1.65 args=["run","hi"] opencode`.
func startArgs(line []byte) (args jsonl.Value, ok bool) {
	if !bytes.Contains(line, []byte(" service=default version=")) {
		return nil, false
	}
	_, list, ok := bytes.Cut(line, []byte(" args="))
	return jsonl.Value(list), ok
}

func equalArgs(list jsonl.Value, args []string) bool {
	i := 0
	for v := range list.Elements() {
		if i >= len(args) || v.Text(0) != args[i] {
			return false
		}
		i++
	}
	return i == len(args)
}

// processLogSession is the session that a line is about: `… service=session id=ses_…` and `… service=session.prompt step=0
// sessionID=ses_…`. Titles stand in these logs without quotes, so nothing after the first field that may hold one counts.
func processLogSession(line []byte) string {
	_, rest, ok := bytes.Cut(line, []byte("ms service=session"))
	if !ok {
		return ""
	}
	for key, value := range fields(string(rest[bytes.IndexByte(append(rest, ' '), ' '):])) {
		switch strings.TrimSpace(key) {
		case "id", "sessionID":
			if isSessionID(value) {
				return value
			}
			return ""
		case "step", "messageID":
		default:
			return ""
		}
	}
	return ""
}
