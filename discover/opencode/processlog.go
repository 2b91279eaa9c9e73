package opencode

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/proc"
)

// processLogs is what the logs of one process (before 1.17) say together. A terminal interface may have two: its worker thread opens a log
// that is named after the second in which the thread begins (SEEN 1.14.41).
type processLogs struct {
	sessions []string
	// starts is the number of first lines, which each process writes once. matching is the number of those with the process's own arguments.
	// Processes that start in the same second share a file, and truncate it (SEEN 1.14.41).
	starts, matching int
	version          storage.Version // of the process
}

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
		isShared := slices.ContainsFunc(scan.processes, func(other *loggedProcess) bool {
			isSame := func(g proc.OpenFile) bool { return g.Path == f.Path && g.PathDiffers == f.PathDiffers }
			return other != p && slices.ContainsFunc(other.files, isSame)
		})
		before := len(logs.sessions)
		log, err := openLog(scan.ctx, p.home, f)
		if err == nil {
			err = logs.read(log, p.args)
			_ = log.Close()
		}
		if scan.warn(f.Path, err); err != nil || isShared {
			return
		}
		if len(logs.sessions) > before || detailPath == "" {
			detailPath = f.Path
		}
	}
	if logs.starts != 1 || logs.matching != 1 {
		return
	}
	if p.unsupported = cmp.Or(p.unsupported, logs.version.BelowFloor(oldestSupported)); p.unsupported != "" {
		return
	}
	p.hasLog, p.logKind = true, "log-file"
	p.logDetail = detailPath + " is written by this process alone and names the session"
	for _, id := range logs.sessions {
		p.sessions[id] = logEvent{}
	}
}

// read adds what a log says.
func (p *processLogs) read(log *storage.File, args []string) error {
	_, err := log.Forward(maxLog, func(line storage.Line) bool {
		if version, logged, ok := parseStart(line.Bytes); ok {
			if p.starts++; slices.Equal(logged, args) {
				p.matching, p.version = p.matching+1, version
			}
		}
		if id := processLogSession(line.Bytes); id != "" && !slices.Contains(p.sessions, id) {
			p.sessions = append(p.sessions, id)
		}
		return true
	})
	return err
}

// parseStart returns the version and the arguments in the first line of a process: `… service=default version=1.14.41 args=["run","hi"]
// process_role=main run_id=… opencode`.
func parseStart(line []byte) (version storage.Version, args []string, ok bool) {
	_, rest, _ := bytes.Cut(line, []byte(" service=default version="))
	number, list, ok := bytes.Cut(rest, []byte(" args="))
	for v := range storage.Value(list).Elements() {
		args = append(args, v.Text(0))
	}
	return storage.ParseVersion(string(number)), args, ok
}

// processLogSession returns the session that a line is about: `… service=session id=ses_…` or `… service=session.prompt step=0
// sessionID=ses_…`. Titles are not quoted in these logs, so nothing after the first field that may contain a title counts.
func processLogSession(line []byte) string {
	_, rest, _ := bytes.Cut(line, []byte("ms service=session"))
	_, rest, _ = bytes.Cut(rest, []byte(" "))
	for key, value := range fields(string(rest)) {
		switch key = strings.TrimSpace(key); {
		case (key == "id" || key == "sessionID") && isSessionID(value):
			return value
		case key != "step" && key != "messageID":
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
	for _, p := range slices.Concat(scan.processes, scan.v2) {
		if p.mode != modeRun || len(p.sessions) > 0 || !p.stored.listed() {
			continue
		}
		for _, f := range p.files {
			if f.FD != 1 || !f.Deleted || !f.Writable || !isAnonymousFile(f.Path) {
				continue
			}
			ids, err := sessionsInOutput(scan.ctx, f)
			if scan.warn(p.ID.String()+" stdout", err); len(ids) == 1 {
				p.logKind, p.logDetail = "output", fmt.Sprintf("its stdout, a file without a name, holds the events of %s", ids[0])
				p.sessions[ids[0]] = logEvent{}
			}
		}
	}
}

// maxOutput is how many bytes of a process's output are read.
const maxOutput = 64 << 10

// sessionsInOutput returns the sessions of the events in a process's output.
func sessionsInOutput(ctx context.Context, f proc.OpenFile) (ids []string, err error) {
	out, err := storage.OpenLink(ctx, f.Proc)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	_, err = out.Head(f.Offset).Forward(maxOutput, func(l storage.Line) bool {
		if id := eventSessionID(l.Bytes); id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		return true
	})
	return ids, err
}

// eventSessionID returns the session of an event that `run --format json` prints; "" if the line is none.
func eventSessionID(line []byte) string {
	e := storage.Object(line)
	if id := e.Get("sessionID").Text(nameLimit); isSessionID(id) && e.Complete() {
		return id
	}
	return ""
}

// OpenCode 1.17 and later collects the lines of its log for a second before it writes them (READ 1.18.33: a batched logger; SEEN: up to two
// seconds on a busy machine). A session that a process has begun or continued since then is in the store, but not yet in the log.
const (
	// maxFlushDelay is how long a turn or session may be missing in the log. It is several times what was seen: if it were too short, a second
	// process could start in a live session. A stopped session whose process died before it wrote the log looks live for as long.
	maxFlushDelay = 10 * time.Second
	// flushSlack is how much later than the turn's time in the store its first line in the log may be: the terminal interface stores a prompt
	// before it begins the turn.
	flushSlack = 2 * time.Second
)

// maxStartup is how long a headless process may take to store its session (4.3 s SEEN on a busy machine).
const maxStartup = 30 * time.Second

// isUnlogged reports whether the log names no session of a process that may run one. It has logged nothing so far, logs only errors, or
// shares its log with another process (before 1.17).
func (l *loggedProcess) isUnlogged() bool {
	return len(l.sessions) == 0 && (l.mode == modeRun || l.mode == modeTUI && !l.hasLog)
}

// unloggedSince returns since when the process may have begun or continued sessions that the log does not name; zero if it cannot have. A
// headless run has only one session. The log of a version that is not supported says nothing.
func (scan *processScan) unloggedSince(p *loggedProcess) time.Time {
	switch {
	case p.foreign:
	case p.isUnlogged(), p.unsupported != "":
		return p.Started.Add(-clockSlack)
	case p.mode != modeRun && p.writesSharedLog:
		return scan.now.Add(-maxFlushDelay)
	}
	return time.Time{}
}

// unloggedClaims returns claims for the sessions that the process may have begun or continued without a line in the log. They are weak:
// another process may have, or one that ended before it wrote its log. The sub-agents of claimed sessions are claimed too.
func (scan *processScan) unloggedClaims(p *loggedProcess, base discover.Claim, logged []discover.Claim) []discover.Claim {
	if scan.unloggedSince(p).IsZero() || p.mode == modeRun && len(logged) > 0 {
		return nil
	}
	base.Additional = p.mode != modeRun
	all := slices.Clip(logged)
	for _, s := range p.stored.children("") {
		if !isClaimed(all, s.ID) && scan.mayBeUnlogged(p, s) && scan.mayHaveStarted(p, s) {
			c := base
			c.Strength, c.Kind = discover.Weak, "log-late"
			c.Detail = fmt.Sprintf("begun at %s, after what the process last wrote into its log", s.lastStart().Format(time.RFC3339Nano))
			if s.inFirstRun() && p.mode == modeServer {
				c.Alternative = "a headless run that is gone may have begun it"
			}
			all = scan.addClaim(all, c, p, s.ID)
		}
	}
	parents := len(all)
	all = scan.addChildren(all, p, func(s *session) bool { return scan.mayBeUnlogged(p, s) })
	for i := range all[parents:] {
		c := &all[parents+i]
		c.Additional, c.Strength = true, min(c.Strength, discover.Strong)
	}
	return all[len(logged):]
}

// mayBeUnlogged reports whether the session's newest turn is too new for the process's log, and the log does not tie it to another process.
func (scan *processScan) mayBeUnlogged(p *loggedProcess, s *session) bool {
	began := s.lastStart()
	newest, logged := p.history.newest[s.ID]
	isOthers := logged && newest.run != p.lastLine.run && !newest.at.Before(began.Add(-flushSlack))
	return p.StartedBefore(began) && began.After(scan.unloggedSince(p)) && !p.lastLine.at.After(began.Add(flushSlack)) && !isOthers
}

// mayHaveStarted reports whether the process may have started the session's newest turn, by the kind of both and the directory. A terminal
// interface runs the sessions of its directory, but not the first turn of one that `opencode run` created. A server runs sessions of any
// directory, unless a live headless run fits the session.
func (scan *processScan) mayHaveStarted(p *loggedProcess, s *session) bool {
	inDir := p.dir != "" && discover.RealPath(p.dir) == discover.RealPath(s.Dir)
	switch p.mode {
	case modeTUI:
		return inDir && !s.inFirstRun()
	case modeRun:
		return inDir && (p.resumes || s.inFirstRun() && p.StartedBefore(s.Created) && s.Created.Before(p.PreciseStart().Add(maxStartup)))
	}
	return !slices.ContainsFunc(scan.processes, func(run *loggedProcess) bool {
		return run.mode == modeRun && run.isUnlogged() && run.home == p.home && scan.mayBeUnlogged(run, s) && scan.mayHaveStarted(run, s)
	})
}
