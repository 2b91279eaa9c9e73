package opencode

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/discover/native"
	"agentctl/discover/native/fsread"
	"agentctl/discover/native/jsonl"
	"agentctl/launch"
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

// isAnonymousFile reports whether an open file never had a name (on Linux: O_TMPFILE, "/tmp/#4711", or memfd_create(2)). Only processes
// that were given the file can write to it.
func isAnonymousFile(path string) bool {
	return strings.HasPrefix(path, "/memfd:") || strings.HasPrefix(filepath.Base(path), "#")
}

// readStdout finds the sessions in the output of headless processes whose logs name none. Before 1.17, processes that start in the same
// second share a log.
func (scan *processScan) readStdout() {
	for _, p := range scan.processes {
		if p.mode != modeRun || len(p.sessions) > 0 || !p.stored.listed() {
			continue
		}
		for _, f := range p.files {
			if f.FD != 1 || !f.Deleted || !f.Writable || !isAnonymousFile(f.Path) {
				continue
			}
			id, err := sessionInOutput(scan.ctx, f)
			if scan.warn(p.ID.String()+" stdout", err); id == "" {
				continue
			}
			p.logKind, p.logDetail = "output", fmt.Sprintf("its stdout, a file without a name, holds the events of %s", id)
			p.addSessions(map[string]logEvent{id: {}})
		}
	}
}

// maxOutput is how many bytes of a process's output are read.
const maxOutput = 64 << 10

// sessionInOutput returns the session of the events in a process's output; "" if there are no events, or events of several sessions.
func sessionInOutput(ctx context.Context, f proc.OpenFile) (id string, err error) {
	out, err := fsread.OpenLink(ctx, f.Proc)
	if err != nil {
		return "", err
	}
	defer out.Close()
	several := false
	_, err = out.Head(f.Offset).Forward(0, maxOutput, func(l fsread.Line) bool {
		found := eventSessionID(l.Bytes)
		several = found != "" && id != "" && found != id
		id = cmp.Or(id, found)
		return !several
	})
	if several {
		id = ""
	}
	return id, err
}

// eventSessionID returns the session of an event that `run --format json` prints; "" if the line is none.
func eventSessionID(line []byte) string {
	e := jsonl.Object(line)
	if !e.Complete() {
		return ""
	}
	if id := e.Get("sessionID").Text(nameLimit); isSessionID(id) {
		return id
	}
	return ""
}

// ParseOutput implements [launch.Adapter]. `run --format json` prints a JSON object for each event, with the ID of its session. The first
// event is the model's answer or its failure. An error event ends the run, before 1.17 with exit status 0. A retry
// prints nothing.
func (Adapter) ParseOutput(o launch.Output) launch.ParsedOutput {
	var parsed launch.ParsedOutput
	for line := range bytes.Lines(o.Stdout) {
		id := eventSessionID(line)
		if id == "" {
			continue
		}
		parsed.ID = cmp.Or(parsed.ID, id)
		if e := jsonl.Object(line); e.Get("type").Text(nameLimit) == "error" {
			parsed.Error = cmp.Or(eventError(e.Get("error").Object()), parsed.Error)
		}
	}
	if parsed.Error == "" {
		parsed.Error = cmp.Or(stderrError(o.Stderr), helpError(o.Stderr))
	}
	return parsed
}

// eventError returns the text of an error event, with its reference to the agent's log.
func eventError(e jsonl.Object) string {
	data := e.Get("data").Object()
	text := cmp.Or(data.Get("message").Text(errorLimit), e.Get("name").Text(nameLimit))
	if ref := data.Get("ref").Text(nameLimit); ref != "" {
		text += " (" + ref + ")"
	}
	return text
}

// errorPrefix begins an error message, in red (SEEN 1.18.33).
const errorPrefix = "\x1b[91m\x1b[1mError: \x1b[0m"

// stderrError returns the last error message.
func stderrError(stderr []byte) string {
	_, after, _ := bytes.Cut(stderr, []byte(errorPrefix))
	if i := bytes.LastIndex(after, []byte(errorPrefix)); i >= 0 {
		after = after[i+len(errorPrefix):]
	}
	return strings.TrimSpace(string(after[:min(len(after), errorLimit)]))
}

// helpError returns an error if the text is the agent's help. The agent prints it, without a reason, if it does not understand its
// arguments (SEEN 1.18.33).
func helpError(text []byte) string {
	if !bytes.HasPrefix(bytes.TrimSpace(text), []byte("opencode run [message..]")) {
		return ""
	}
	return "it does not understand its arguments, and printed its help"
}
