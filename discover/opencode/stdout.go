package opencode

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"agentctl/discover/native/fsread"
	"agentctl/discover/native/jsonl"
	"agentctl/proc"
)

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
