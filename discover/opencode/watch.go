package opencode

import (
	"path/filepath"
	"strings"

	"agentctl/discover"
)

// Watch returns what changes with a session: its database and that one's write-ahead log, or the newest of its JSON
// files and the folders in which newer ones are made; and the log that ties it to its process.
func (Adapter) Watch(s discover.Session) []string {
	files := []string{filepath.Join(s.Home, "log", "opencode.log")}
	switch {
	case strings.HasSuffix(s.Path, ".json"):
		return append(append(files, s.Path), watchFiles(s)...)
	case s.Path != "":
		return append(files, s.Path, s.Path+"-wal")
	}
	return append(files, filepath.Join(s.Home, "opencode.db"), filepath.Join(s.Home, "opencode.db-wal"))
}

// watchFiles are the folder of a session's messages, the newest one, and its parts, each rewritten in place.
func watchFiles(s discover.Session) []string {
	places := filesOf(s.Path, s.ID)
	files := []string{places.messages}
	names, err := jsonNames(places.messages, "msg_")
	if err != nil || len(names) == 0 {
		return files
	}
	newest := names[len(names)-1]
	folder := places.parts(newest)
	files = append(files, filepath.Join(places.messages, newest+".json"), folder)
	parts, _ := jsonNames(folder, "prt_") // those that cannot be listed change with their folder
	for _, name := range parts {
		files = append(files, filepath.Join(folder, name+".json"))
	}
	return files
}

// MayRun reports whether a binary can be this agent's.
func (Adapter) MayRun(exe string) bool { return isName(exe) }
