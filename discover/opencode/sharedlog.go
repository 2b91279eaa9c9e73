package opencode

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"agentctl/discover/native/fsread"
	"agentctl/proc"
)

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
	process   *loggedProcess
	file      proc.OpenFile
	run       string
	lastFlush time.Time
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
			if !isLog(f.Path) || !isSharedLog(f.Path) || f.Offset == 0 && !p.wroteNothing(f.Path) {
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

// wroteNothing reports whether the process has written nothing into the log so far. A terminal interface opens the log twice, and writes
// to one of the two files. Such a log still shows which sessions belong to other processes.
func (p *loggedProcess) wroteNothing(log string) bool {
	return !slices.ContainsFunc(p.files, func(f proc.OpenFile) bool { return f.Path == log && f.Offset > 0 })
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
		if h.run, h.lastFlush, err = lastRun(log, h.file.Offset); err != nil { // the run is "" if the process has written nothing
			return err
		}
		if started, ok := runs[h.run]; !ok || h.process.Started.Before(started) {
			runs[h.run] = h.process.Started
		}
	}
	events, history, err := readLogEvents(log, runs)
	if err != nil {
		return err
	}
	for _, h := range handles {
		p := h.process
		p.history, p.writesSharedLog = history, true
		if h.run == "" {
			continue
		}
		p.hasLog, p.run, p.lastFlush, p.logKind = true, h.run, h.lastFlush, "log-offset"
		p.logDetail = fmt.Sprintf("wrote %s up to byte %d as run=%s, which names the session", h.file.Path, h.file.Offset, h.run)
		p.addSessions(events[h.run])
	}
	return nil
}

// openLog opens a log that a process has open. If its path leads to another file now, openLog opens it through the process. It refuses a
// log outside of a home whose links may not be followed.
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

// lastRun returns the run of the process that wrote the bytes before the offset, and the time of its last line. That is the last line that
// names a run: only a stack trace may follow it.
func lastRun(log *fsread.File, offset int64) (run string, at time.Time, err error) {
	_, err = log.Head(offset).Backward(maxLastLines, func(l fsread.Line) bool {
		line := parseLogLine(l.Bytes)
		run, at = line.run, line.at
		return run == ""
	})
	return run, at, err
}

// logHistory is what a log says of all sessions and runs.
type logHistory struct {
	newest map[string]logLine // by session, the newest line about it
	// requests are the requests of each run for permission, newest first. A run that logs requests has an entry, even if it has made none.
	requests map[string][]permissionRequest
}

// readLogEvents reads a log back to the oldest start of the runs' processes. events has the newest event of each session, by run and session.
func readLogEvents(log *fsread.File, runs map[string]time.Time) (events map[string]map[string]logEvent, history logHistory, err error) {
	events = map[string]map[string]logEvent{}
	history = logHistory{newest: map[string]logLine{}, requests: map[string][]permissionRequest{}}
	named, silent := time.Now(), time.Now() // the oldest start of a process with a run, and of one that has written nothing
	for run, started := range runs {
		events[run] = map[string]logEvent{}
		oldest := &named
		if run == "" {
			oldest = &silent
		}
		if started.Before(*oldest) {
			*oldest = started
		}
	}
	_, err = log.Backward(maxLog, func(l fsread.Line) bool {
		oldest := named
		if silent.Before(named) && log.Size()-l.Offset <= maxSilentSearch {
			oldest = silent
		}
		if at := lineTime(l.Bytes); !at.IsZero() && at.Before(oldest.Add(-clockSlack)) {
			return false
		}
		if isPermissionRequest(l.Bytes) {
			if run, r := parsePermissionRequest(l.Bytes); len(history.requests[run]) < maxRequests {
				history.requests[run] = append(history.requests[run], r)
			}
			return true
		}
		if !bytes.Contains(l.Bytes, []byte(sessionPrefix)) {
			return true
		}
		line := parseLogLine(l.Bytes)
		history.add(line)
		if of, ok := events[line.run]; ok && line.session != "" {
			of[line.session] = decisive(line.logEvent, of[line.session])
		}
		return true
	})
	return events, history, err
}

// add adds a line.
func (h *logHistory) add(line logLine) {
	if _, ok := h.requests[line.run]; !ok && line.isInfo {
		h.requests[line.run] = nil
	}
	if line.session != "" && line.at.After(h.newest[line.session].at) {
		h.newest[line.session] = line
	}
}
