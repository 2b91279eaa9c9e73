package e2e_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// What the agents' commands do to stored sessions: `codex delete|archive|unarchive` of 0.169, `opencode session delete` of 1.18. With
// OLD_RELEASE there are none, with IDLE they say that they are done and do nothing, and with SLOW, the name of a FIFO, they make a file
// with .reached after that name and wait until something opens the FIFO.

// manageCodex carries out a command; it returns if the command line has none.
func manageCodex() {
	if len(os.Args) < 3 || !slices.Contains([]string{"delete", "archive", "unarchive"}, os.Args[1]) {
		return
	}
	verb, id, dir := os.Args[1], os.Args[len(os.Args)-1], home("CODEX_HOME", ".codex")
	if os.Getenv("OLD_RELEASE") != "" {
		refuse(2, "error: unexpected argument '%s' found", id)
	}
	if id == "--help" {
		fmt.Printf("Usage: codex %s [OPTIONS] <SESSION>\n", verb)
		os.Exit(0)
	}
	if fifo := os.Getenv("SLOW"); fifo != "" {
		_ = os.WriteFile(fifo+".reached", nil, 0o600)
		_, _ = os.ReadFile(fifo)
	}
	active, _ := filepath.Glob(filepath.Join(dir, "sessions/*/*/*/rollout-*-"+id+".jsonl"))
	archived, _ := filepath.Glob(filepath.Join(dir, "archived_sessions/rollout-*-"+id+".jsonl"))
	var err error
	switch {
	case os.Getenv("IDLE") != "":
	case verb == "delete" && os.Args[2] != "--force":
		refuse(1, "Error: cannot confirm session deletion without an interactive terminal; rerun with --force and a session UUID")
	case verb == "delete" && len(active)+len(archived) > 0:
		err = os.Remove(append(active, archived...)[0])
	case verb == "archive" && len(active) > 0:
		if err = os.MkdirAll(filepath.Join(dir, "archived_sessions"), 0o700); err == nil {
			err = os.Rename(active[0], filepath.Join(dir, "archived_sessions", filepath.Base(active[0])))
		}
	case verb == "unarchive" && len(archived) > 0:
		name := filepath.Base(archived[0])
		day := filepath.Join(dir, "sessions", strings.ReplaceAll(name[len("rollout-"):len("rollout-2026-11-20")], "-", "/"))
		if err = os.MkdirAll(day, 0o700); err == nil {
			err = os.Rename(archived[0], filepath.Join(day, name))
		}
	default:
		refuse(1, "Error: failed to %s session", verb)
	}
	if err != nil {
		refuse(1, "Error: %v", err)
	}
	fmt.Printf("Done with session %s.\n", id)
	os.Exit(0)
}

// manageOpenCode is manageCodex for OpenCode.
func manageOpenCode() {
	if len(os.Args) < 4 || os.Args[1] != "session" || os.Args[2] != "delete" {
		return
	}
	id := os.Args[3]
	switch {
	case id == "--help" && os.Getenv("OLD_RELEASE") == "":
		fmt.Println("opencode session delete <sessionID>")
		os.Exit(0)
	case os.Getenv("OLD_RELEASE") != "":
		fmt.Println("opencode session\n\nmanage sessions")
		os.Exit(0)
	case os.Getenv("IDLE") != "":
		os.Exit(0)
	}
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(home("XDG_DATA_HOME", ".local/share"), "opencode/opencode.db"))
	if err != nil {
		refuse(1, "Error: %v", err)
	}
	defer db.Close()
	for _, statement := range []string{"delete from part where session_id = ?", "delete from message where session_id = ?", "delete from session where id = ?"} {
		if _, err = db.Exec(statement, id); err != nil {
			refuse(1, "Error: %v", err)
		}
	}
	os.Exit(0)
}

// refuse ends the program with an error.
func refuse(code int, format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(code)
}
