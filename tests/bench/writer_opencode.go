package main

import (
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "github.com/ncruces/go-sqlite3/driver" // the driver
)

// openCodeWriter begins a session in the database of its home, which is there already, as a terminal of OpenCode 1.18
// does: it has the database open, appends to the log of all processes under the name of its run, and serves on a port.
func openCodeWriter() (writer, error) {
	home := filepath.Join(os.Getenv("XDG_DATA_HOME"), "opencode")
	db, err := sql.Open("sqlite3", "file:"+(&url.URL{Path: filepath.Join(home, "opencode.db")}).EscapedPath()+"?mode=rw&_pragma=busy_timeout(5000)&_pragma=foreign_keys(off)")
	if err != nil {
		return writer{}, err
	}
	db.SetMaxOpenConns(1) // it stays open
	now, random := time.Now().UnixMilli(), strings.ReplaceAll(uuid(4), "-", "")
	// In identifiers the time stands with a counter behind it; in those of sessions it is turned over.
	session, message := fmt.Sprintf("ses_%012x%s", ^(now<<12)&(1<<48-1), random[:14]), fmt.Sprintf("msg_%012x%s", now<<12&(1<<48-1), random[:14])
	if _, err := db.Exec(`INSERT INTO session (id, project_id, slug, directory, title, version, time_created, time_updated)
		SELECT ?, id, 'quiet-river', worktree, 'go on', '1.18.33', ?, ? FROM project LIMIT 1`, session, now, now); err != nil {
		return writer{}, err
	}
	if _, err := db.Exec("INSERT INTO message (id, session_id, time_created, time_updated, data) VALUES (?,?,?,?,?)",
		message, session, now, now, fmt.Sprintf(`{"role":"user","time":{"created":%d},"agent":"build"}`, now)); err != nil {
		return writer{}, err
	}
	port, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return writer{}, err
	}
	log, err := openAppend(filepath.Join(home, "log", "opencode.log"))
	if err != nil {
		return writer{}, err
	}
	record := "timestamp=%s level=INFO run=" + random[:8] + " message=loop session.id=" + session + " step=%d"
	return writer{id: session, file: log, records: []string{record}, held: []io.Closer{db, port}}, nil
}
