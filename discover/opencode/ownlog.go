package opencode

import (
	"bytes"
	"strings"

	"agentctl/discover/native"
)

// ownership is whose log of a single process (before 1.17) a file is, by its first lines.
type ownership uint8

const (
	// foreign: several processes wrote it, or another one did. Those started in the same second share a file, and
	// truncate it (SEEN 1.1.65).
	foreign ownership = iota
	// own: it begins with the arguments that the process was started with.
	own
	// nameless: nothing says who wrote it. A TUI's worker thread keeps a second log, which does not (SEEN 1.1.65), but
	// for one that starts in the same second as its process.
	nameless
)

// ownSessions reads the log of a single process (before 1.17): the sessions it names, and whose it is by the arguments
// in its first line.
func ownSessions(log *native.File, args []string) (ids []string, whose ownership, err error) {
	starts, matching := 0, 0
	seen := map[string]bool{}
	_, err = log.Forward(0, maxLog, func(l native.Line) bool {
		if theirs, ok := startArgs(l.Bytes); ok {
			if starts++; equal(theirs, args) {
				matching++
			}
		}
		if id := ownSession(l.Bytes); id != "" && !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
		return true
	})
	switch {
	case starts == 0:
		whose = nameless
	case starts == 1 && matching == 1:
		whose = own
	}
	return ids, whose, err
}

// startArgs reads the arguments in a process's first line: `… service=default version=1.1.65 args=["run","hi"] opencode`.
func startArgs(line []byte) (args native.Value, ok bool) {
	if !bytes.Contains(line, []byte(" service=default version=")) {
		return nil, false
	}
	_, list, ok := bytes.Cut(line, []byte(" args="))
	return native.Value(list), ok
}

func equal(list native.Value, args []string) bool {
	i := 0
	for v := range list.Elements() {
		if i >= len(args) || v.Text(0) != args[i] {
			return false
		}
		i++
	}
	return i == len(args)
}

// ownSession is the session that a line is about: `… service=session id=ses_…` and `… service=session.prompt step=0
// sessionID=ses_…`. Titles stand in these logs without quotes, so nothing after the first field that may hold one counts.
func ownSession(line []byte) string {
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
