package opencode

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"agentctl/discover/native"
	"agentctl/discover/native/fsread"
	"agentctl/discover/native/jsonl"
	"agentctl/proc"
)

// processLogs is what the logs of one process (before 1.17) say together. A terminal interface may have two: its worker thread opens a log
// that is named after the second in which the thread begins (SEEN 1.14.41).
type processLogs struct {
	sessions []string
	// starts is the number of first lines, which each process writes once. matching is the number of those with the process's own arguments.
	starts, matching int
	version          native.Version // of the process
}

// exclusive reports whether only the process wrote the logs. Processes that start in the same second share a file, and truncate it (SEEN
// 1.14.41).
func (l *processLogs) exclusive() bool { return l.starts == 1 && l.matching == 1 }

// readProcessLogs reads the logs of a process. If another process writes one of them too, none of them counts: the session may be the
// other process's.
func (scan *processScan) readProcessLogs(p *loggedProcess) {
	var logs processLogs
	seen, detailPath := map[string]bool{}, ""
	for _, f := range p.files {
		if !isLog(f.Path) || isSharedLog(f.Path) || seen[f.Path] {
			continue
		}
		seen[f.Path] = true
		named, err := scan.readProcessLog(&logs, p, f)
		if scan.warn(f.Path, err); err != nil || scan.sharesLog(p, f) {
			return
		}
		if named || detailPath == "" {
			detailPath = f.Path
		}
	}
	if !logs.exclusive() {
		return
	}
	if p.unsupported = cmp.Or(p.unsupported, belowFloor(logs.version)); p.unsupported != "" {
		return
	}
	p.hasLog, p.logKind = true, "log-file"
	p.logDetail = detailPath + " is written by this process alone and names the session"
	for _, id := range logs.sessions {
		p.addSessions(map[string]logEvent{id: {}})
	}
}

func (scan *processScan) readProcessLog(logs *processLogs, p *loggedProcess, f proc.OpenFile) (named bool, err error) {
	log, err := openLog(scan.ctx, p.home, f)
	if err != nil {
		return false, err
	}
	defer log.Close()
	return logs.read(log, p.args)
}

// sharesLog reports whether another process has the log open.
func (scan *processScan) sharesLog(p *loggedProcess, f proc.OpenFile) bool {
	return slices.ContainsFunc(scan.processes, func(other *loggedProcess) bool {
		return other != p && slices.ContainsFunc(other.files, func(g proc.OpenFile) bool { return g.Path == f.Path && g.PathDiffers == f.PathDiffers })
	})
}

// read adds what a log says, and reports whether the log names a session.
func (l *processLogs) read(log *fsread.File, args []string) (named bool, err error) {
	_, err = log.Forward(0, maxLog, func(line fsread.Line) bool {
		if version, logged, ok := parseStart(line.Bytes); ok {
			if l.starts++; equalArgs(logged, args) {
				l.matching, l.version = l.matching+1, version
			}
		}
		if id := processLogSession(line.Bytes); id != "" {
			named = true
			if !slices.Contains(l.sessions, id) {
				l.sessions = append(l.sessions, id)
			}
		}
		return true
	})
	return named, err
}

// parseStart returns the version and the arguments in the first line of a process: `… service=default version=1.14.41 args=["run","hi"]
// process_role=main run_id=… opencode`.
func parseStart(line []byte) (version native.Version, args jsonl.Value, ok bool) {
	_, rest, _ := bytes.Cut(line, []byte(" service=default version="))
	number, list, ok := bytes.Cut(rest, []byte(" args="))
	return native.ParseVersion(string(number)), jsonl.Value(list), ok
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

// processLogSession returns the session that a line is about: `… service=session id=ses_…` or `… service=session.prompt step=0
// sessionID=ses_…`. Titles are not quoted in these logs, so nothing after the first field that may contain a title counts.
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
