package realagents

import (
	"bytes"
	"database/sql"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/tests/realagents/world"

	_ "github.com/ncruces/go-sqlite3/driver" // the driver
)

// What the agents stored is looked up here by the prompt that was typed, without any code of the program under test.

// queued begins a record of Claude Code's of a prompt that it has been given, and has not begun with.
var queued = []byte(`{"type":"queue-operation"`)

// fileWith waits for the file below dir whose content holds the text and whose name has the suffix.
func fileWith(t *testing.T, dir, suffix, text string) string {
	t.Helper()
	found := ""
	if !poll(func() bool {
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, suffix) {
				return nil
			}
			raw, _ := os.ReadFile(path)
			for line := range bytes.SplitSeq(raw, []byte("\n")) {
				if bytes.Contains(line, []byte(text)) && !bytes.HasPrefix(line, queued) {
					found = path
				}
			}
			return nil
		})
		return found != ""
	}) {
		t.Fatalf("no *%s below %s holds %q", suffix, dir, text)
	}
	return found
}

// claudeID is the session in whose transcript the prompt stands.
func claudeID(t *testing.T, w *world.World, prompt string) string {
	t.Helper()
	path := fileWith(t, filepath.Join(w.Home, ".claude", "projects"), ".jsonl", prompt)
	return strings.TrimSuffix(filepath.Base(path), ".jsonl")
}

// codexID is the thread in whose rollout the prompt stands.
func codexID(t *testing.T, w *world.World, prompt string) string {
	t.Helper()
	name := strings.TrimSuffix(filepath.Base(fileWith(t, filepath.Join(w.Home, ".codex", "sessions"), ".jsonl", prompt)), ".jsonl")
	return name[len(name)-36:]
}

// openCodeID is the session in whose database the prompt stands.
func openCodeID(t *testing.T, w *world.World, prompt string) string {
	t.Helper()
	path := filepath.Join(w.OpenCodeHome(), "opencode.db")
	var id string
	if !poll(func() bool {
		db, err := sql.Open("sqlite3", "file:"+path+"?mode=ro&_pragma=busy_timeout(5000)")
		if err != nil {
			return false
		}
		defer db.Close()
		return db.QueryRow(`select p.session_id from part p join message m on m.id = p.message_id
			where m.data like '%"user"%' and instr(p.data, ?) > 0 limit 1`, prompt).Scan(&id) == nil
	}) {
		t.Fatalf("no message in %s holds %q", path, prompt)
	}
	return id
}
