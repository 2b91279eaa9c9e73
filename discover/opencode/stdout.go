package opencode

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"agentctl/discover/native/fsread"
	"agentctl/discover/native/jsonl"
	"agentctl/discover/opencode/transcript"
	"agentctl/proc"
)

// isAnonymousFile reports whether an open file never had a name (Linux: O_TMPFILE, "/tmp/#4711", or memfd_create(2)). Only who
// was given it by its maker can write to it.
func isAnonymousFile(path string) bool {
	return strings.HasPrefix(path, "/memfd:") || strings.HasPrefix(filepath.Base(path), "#")
}

// readStdout finds the sessions that headless processes name in what they print, where their logs name none: those of
// before 1.17 that were started in the same second share one.
func (s *evidence) readStdout() {
	for _, sub := range s.processes {
		if sub.mode != modeRun || len(sub.sessions) > 0 || s.homes[sub.home] == nil {
			continue
		}
		for _, f := range sub.files {
			if f.FD != 1 || !f.Deleted || !f.Writable || !isAnonymousFile(f.Path) {
				continue
			}
			id, err := sessionInOutput(s.ctx, f)
			if s.warn(sub.ID.String()+" stdout", err); id == "" {
				continue
			}
			sub.logKind, sub.logDetail = "output", fmt.Sprintf("its stdout, a file without a name, holds the events of %s", id)
			sub.addSessions(map[string]logEvent{id: {}})
		}
	}
}

// sessionInOutput is the session that all events in a process's output are of, "" if there are none or of several.
func sessionInOutput(ctx context.Context, f proc.OpenFile) (id string, err error) {
	const most = 64 << 10
	out, err := fsread.OpenLink(ctx, f.Proc)
	if err != nil {
		return "", err
	}
	defer out.Close()
	several := false
	_, err = out.Head(f.Offset).Forward(0, most, func(l fsread.Line) bool {
		said := eventSessionID(l.Bytes)
		several = said != "" && id != "" && said != id
		if id == "" {
			id = said
		}
		return !several
	})
	if several {
		id = ""
	}
	return id, err
}

// eventSessionID is the session that a line of `run --format json` is about.
func eventSessionID(line []byte) string {
	e := jsonl.Object(line)
	if !e.Complete() {
		return ""
	}
	if id := e.Get("sessionID").Text(transcript.NameLimit); isSessionID(id) {
		return id
	}
	return ""
}
