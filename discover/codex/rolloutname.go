package codex

import (
	"strings"

	"agentctl/discover/native"
)

const (
	uuidLen       = native.UUIDLen
	stampLen      = len("2026-11-20T19-09-05")
	plainExt      = ".jsonl"
	compressedExt = ".jsonl.zst"
	lockExt       = ".lock"
)

// rolloutName is a parsed file name: rollout-<local time>-<thread>.jsonl, with .zst appended if it is compressed. Files that begin
// with an edited prompt have _<segment> after the thread.
type rolloutName struct{ id, segment string }

func parseRolloutName(name string) (rolloutName, bool) {
	rest, ok := strings.CutPrefix(name, "rollout-")
	if !ok || len(rest) < stampLen+1+uuidLen || rest[stampLen] != '-' {
		return rolloutName{}, false
	}
	rest = rest[stampLen+1:]
	id, rest := rest[:uuidLen], rest[uuidLen:]
	segment := ""
	if more, ok := strings.CutPrefix(rest, "_"); ok && len(more) > uuidLen && isThreadID(more[:uuidLen]) {
		segment, rest = more[:uuidLen], more[uuidLen:]
	}
	if !isThreadID(id) || rest != plainExt && rest != compressedExt {
		return rolloutName{}, false
	}
	return rolloutName{id: id, segment: segment}, true
}

// parseLockName returns the thread that a lock file is named after.
func parseLockName(name string) (id string, ok bool) {
	id, ok = strings.CutSuffix(name, lockExt)
	return id, ok && isThreadID(id)
}

// dayRange is a range of date directories ("2026/11/20"), both ends included. The zero value is all of them.
type dayRange struct{ from, to string }

// daysOfID returns the directories that may contain a thread of this ID. Directories are named by local time, which is never more
// than a day away from UTC, wherever the machine was.
func daysOfID(id string) (dayRange, bool) {
	t, ok := threadCreated(id)
	if !ok {
		return dayRange{}, false
	}
	return dayRange{t.AddDate(0, 0, -1).Format(dayLayout), t.AddDate(0, 0, 1).Format(dayLayout)}, true
}

// dayLayout is the format of a date directory below [sessionsDir].
const dayLayout = "2006/01/02"

// contains reports whether a directory such as "2026", "2026/11" or "2026/11/20" is in the range or above a part of it.
func (d dayRange) contains(folder string) bool {
	n := len(folder)
	return d == dayRange{} || n <= len(d.from) && folder >= d.from[:n] && folder <= d.to[:n]
}

// Directories of a home.
const (
	sessionsDir = "sessions"
	archiveDir  = "archived_sessions"
	locksDir    = "thread-writer-locks"
)

// isArchived reports whether a rollout is in the archive.
func isArchived(path string) bool {
	folder := path[:max(strings.LastIndexByte(path, '/'), 0)]
	return folder[strings.LastIndexByte(folder, '/')+1:] == archiveDir
}
