package generate

import (
	"database/sql"
	_ "embed"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	_ "github.com/ncruces/go-sqlite3/driver" // the driver
)

//go:embed opencode.sql
var openCodeSchema string

// writeOpenCode makes an OpenCode home: one database in WAL mode, at rest.
func writeOpenCode(home string, o Options, words prose, list []Session) (err error) {
	path := filepath.Join(home, "opencode.db")
	db, err := sql.Open("sqlite3", "file:"+(&url.URL{Path: path}).EscapedPath()+"?_pragma=journal_mode(off)&_pragma=synchronous(off)&_pragma=foreign_keys(off)")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	defer func() {
		if cerr := db.Close(); err == nil {
			err = cerr
		}
	}()
	if _, err := db.Exec(openCodeSchema); err != nil {
		return err
	}
	if err := fill(db, o, words, list); err != nil {
		return err
	}
	if _, err := db.Exec("PRAGMA journal_mode=wal"); err != nil {
		return err
	}
	for i := range list {
		list[i].Path = path
	}
	return os.Chmod(path, 0o644)
}

// fill inserts every session in one transaction.
func fill(db *sql.DB, o Options, words prose, list []Session) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after the commit
	w := &openCode{words: words}
	if err := w.prepare(tx); err != nil {
		return err
	}
	for project := range max(1, len(list)/perProject) {
		p := plan{project: project}
		if _, err := tx.Exec("INSERT INTO project (id, worktree, vcs, time_created, time_updated, sandboxes) VALUES (?,?,'git',?,?,'[]')",
			projectID(project), p.dir(), o.End.UnixMilli(), o.End.UnixMilli()); err != nil {
			return err
		}
	}
	for _, p := range o.inTime(3, len(list)) { // as they come to be
		if list[p.index], err = w.session(p); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// projectID stands for the hash of a repository's first commit.
func projectID(n int) string { return fmt.Sprintf("%040x", 0xd2304ff913de+n) }

// openCode inserts sessions with their messages and parts.
type openCode struct {
	words                           prose
	insSession, insMessage, insPart *sql.Stmt
}

func (w *openCode) prepare(tx *sql.Tx) error {
	for _, s := range []struct {
		to  **sql.Stmt
		sql string
	}{
		{&w.insSession, `INSERT INTO session (id, project_id, parent_id, slug, directory, path, title, version, summary_additions,
			summary_deletions, summary_files, cost, tokens_input, tokens_output, tokens_cache_read, agent, model, time_created,
			time_updated, time_archived) VALUES (?,?,?,'eager-island',?,'',?,'1.18.33',0,0,0,?,?,?,?,'build',?,?,?,?)`},
		{&w.insMessage, "INSERT INTO message (id, session_id, time_created, time_updated, data) VALUES (?,?,?,?,?)"},
		{&w.insPart, "INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES (?,?,?,?,?,?)"},
	} {
		stmt, err := tx.Prepare(s.sql)
		if err != nil {
			return err
		}
		*s.to = stmt
	}
	return nil
}

// ids of OpenCode: the time and a counter in 12 hexadecimal digits, then 14 letters and digits. Those of sessions
// have the bits of the time turned over, so that they sort newest first.
func (p plan) openCodeID(kind string, at time.Time, counter int) string {
	n := uint64(at.UnixMilli())<<12 + uint64(counter)
	if kind == "ses" {
		n = ^n
	}
	const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	return fmt.Sprintf("%s_%012x%s", kind, n&(1<<48-1), p.pick(base62, 14))
}
