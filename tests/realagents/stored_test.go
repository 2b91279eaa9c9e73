package realagents

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/ncruces/go-sqlite3/driver" // the driver

	"agentctl/tests/must"
	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// What the agents stored is looked up here by the prompt that was typed, without any code of the program under test.

// fileWith waits for the file below dir whose content holds the text and whose name has the suffix. A prompt that Claude Code has been
// given, and has not begun with, does not count.
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
				if bytes.Contains(line, []byte(text)) && !bytes.HasPrefix(line, []byte(`{"type":"queue-operation"`)) {
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

// idOf finds the session of a prompt in the agent's own storage.
func idOf(t *testing.T, w *world.World, a world.Agent, prompt string) string {
	t.Helper()
	switch a.Agent() {
	case install.ClaudeCode:
		return claudeID(t, w, prompt)
	case install.Codex:
		return codexID(t, w, prompt)
	case install.Pi:
		return piID(t, w, prompt)
	case install.Copilot:
		return copilotID(t, w, prompt)
	}
	return openCodeID(t, w, prompt)
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

// piID is the session in whose file the prompt stands.
func piID(t *testing.T, w *world.World, prompt string) string {
	t.Helper()
	path := fileWith(t, filepath.Join(w.Home, ".pi", "agent", "sessions"), ".jsonl", prompt)
	_, id, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".jsonl"), "_")
	return id
}

// piPrompts are the user's messages in a session's file.
func piPrompts(t *testing.T, w *world.World, id string) (texts []string) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(w.Home, ".pi", "agent", "sessions", "*", "*_"+id+".jsonl"))
	for _, file := range files {
		raw, err := os.ReadFile(file)
		must.Do(t, err)
		for line := range bytes.Lines(raw) {
			var e struct {
				Message struct {
					Role    string
					Content json.RawMessage
				}
			}
			var blocks []struct{ Text string }
			if json.Unmarshal(line, &e) == nil && e.Message.Role == "user" && json.Unmarshal(e.Message.Content, &blocks) == nil {
				texts = append(texts, blocks[0].Text)
			}
		}
	}
	return texts
}

// copilotID is the session in whose records the prompt stands.
func copilotID(t *testing.T, w *world.World, prompt string) string {
	t.Helper()
	return filepath.Base(filepath.Dir(fileWith(t, filepath.Join(w.Home, ".copilot", "session-state"), ".jsonl", prompt)))
}

// copilotPrompts are what the user said in a session.
func copilotPrompts(t *testing.T, w *world.World, id string) (texts []string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(w.Home, ".copilot", "session-state", id, "events.jsonl"))
	must.Do(t, err)
	for line := range bytes.Lines(raw) {
		var e struct {
			Type, AgentID string
			Data          struct{ Content string }
		}
		if json.Unmarshal(line, &e) == nil && e.Type == "user.message" && e.AgentID == "" {
			texts = append(texts, e.Data.Content)
		}
	}
	return texts
}

// openCodeID is the session in whose database the prompt stands.
func openCodeID(t *testing.T, w *world.World, prompt string) string {
	t.Helper()
	var id string
	if !poll(func() bool {
		db := readOnly(t, filepath.Join(w.OpenCodeHome(), "opencode.db"))
		defer db.Close()
		return db.QueryRow(`select p.session_id from part p join message m on m.id = p.message_id
			where m.data like '%"user"%' and instr(p.data, ?) > 0 limit 1`, prompt).Scan(&id) == nil
	}) {
		t.Fatalf("no message in OpenCode's database holds %q", prompt)
	}
	return id
}

func readOnly(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite3", "file:"+path+"?mode=ro&_pragma=busy_timeout(5000)")
	must.Do(t, err)
	return db
}

// prompts are the texts that a person gave in a session, the oldest first, once there are n of them: they are stored a moment after the fact.
func prompts(t *testing.T, w *world.World, a world.Agent, id string, n int) (texts []string) {
	t.Helper()
	poll(func() bool {
		texts = nil
		switch a.Agent() {
		case install.ClaudeCode:
			for _, p := range claudePrompts(t, w, id, 0) {
				texts = append(texts, p.Text)
			}
		case install.Codex:
			texts = asked(t, w, id)
		case install.Pi:
			texts = piPrompts(t, w, id)
		case install.Copilot:
			texts = copilotPrompts(t, w, id)
		default:
			for _, m := range userMessages(t, w, id) {
				texts = append(texts, m.text)
			}
		}
		return len(texts) >= n
	})
	return texts
}

// claudePrompt is one that a person gave, as Claude Code stored it.
type claudePrompt struct {
	Text, Mode, Dir string
}

// claudePrompts are the prompts in a session's transcript, once there are n of them.
func claudePrompts(t *testing.T, w *world.World, id string, n int) (list []claudePrompt) {
	t.Helper()
	path := claudeTranscript(t, w, id)
	poll(func() bool {
		list = nil
		for _, line := range wholeLines(t, path) {
			var r struct {
				Type, Cwd, PermissionMode string
				IsMeta                    bool
				Message                   struct{ Content any }
			}
			if err := json.Unmarshal(line, &r); err != nil {
				t.Fatalf("%v: %.200q", err, line)
			}
			if text, ok := r.Message.Content.(string); ok && r.Type == "user" && !r.IsMeta {
				list = append(list, claudePrompt{text, r.PermissionMode, r.Cwd})
			}
		}
		return len(list) >= n
	})
	return list
}

// claudeTranscript is the file of a session.
func claudeTranscript(t *testing.T, w *world.World, id string) string {
	t.Helper()
	return onlyFile(t, filepath.Join(w.Home, ".claude", "projects", "*", id+".jsonl"))
}

// onlyFile waits for the only file that a pattern matches.
func onlyFile(t *testing.T, pattern string) string {
	t.Helper()
	var paths []string
	poll(func() bool {
		paths, _ = filepath.Glob(pattern)
		return len(paths) > 0
	})
	if len(paths) != 1 {
		t.Fatalf("%d files %s", len(paths), pattern)
	}
	return paths[0]
}

func wholeLines(t *testing.T, path string) [][]byte {
	t.Helper()
	raw, err := os.ReadFile(path)
	must.Do(t, err)
	lines := bytes.Split(raw, []byte("\n"))
	return lines[:len(lines)-1]
}

// rolloutOf are the whole lines of a thread's rollout.
func rolloutOf(t *testing.T, w *world.World, id string) [][]byte {
	t.Helper()
	return wholeLines(t, onlyFile(t, filepath.Join(w.Home, ".codex", "sessions", "*", "*", "*", "rollout-*"+id+".jsonl")))
}

// asked are the texts of the user in a thread's rollout.
func asked(t *testing.T, w *world.World, id string) (texts []string) {
	t.Helper()
	for _, line := range rolloutOf(t, w, id) {
		var r struct {
			Payload struct {
				Type string
				Item struct {
					Type    string
					Content []struct{ Text string }
				}
			}
		}
		must.Do(t, json.Unmarshal(line, &r))
		if r.Payload.Type == "item_completed" && r.Payload.Item.Type == "UserMessage" {
			texts = append(texts, r.Payload.Item.Content[0].Text)
		}
	}
	return texts
}

// turnSettings are what a turn of Codex ran with.
type turnSettings struct {
	CWD, Model string
	Sandbox    struct {
		Type    string
		Network bool     `json:"network_access"`
		Roots   []string `json:"writable_roots"`
	} `json:"sandbox_policy"`
}

// lastSettings are those of the newest turn.
func lastSettings(t *testing.T, w *world.World, id string) (last turnSettings) {
	t.Helper()
	for _, line := range rolloutOf(t, w, id) {
		var r struct {
			Type    string
			Payload json.RawMessage
		}
		err := json.Unmarshal(line, &r)
		if err == nil && r.Type == "turn_context" {
			last = turnSettings{}
			err = json.Unmarshal(r.Payload, &last)
		}
		must.Do(t, err)
	}
	return last
}

// userMessage is what matters of a message of the user, as OpenCode stores it.
type userMessage struct {
	text, agent, model string
}

// userMessages are those of a session of OpenCode, the oldest first.
func userMessages(t *testing.T, w *world.World, id string) (out []userMessage) {
	t.Helper()
	db := readOnly(t, filepath.Join(w.OpenCodeHome(), "opencode.db"))
	defer db.Close()
	rows, err := db.Query(`select m.data, (select p.data from part p where p.message_id = m.id order by p.id limit 1)
		from message m where m.session_id = ? order by m.time_created, m.id`, id)
	must.Do(t, err)
	defer rows.Close()
	for rows.Next() {
		var message, part []byte
		var m struct {
			Role, Agent string
			Model       struct{ ProviderID, ModelID string }
		}
		var p struct{ Text string }
		must.Do(t, rows.Scan(&message, &part))
		must.Do(t, json.Unmarshal(message, &m))
		if m.Role != "user" {
			continue
		}
		if err := json.Unmarshal(part, &p); err != nil {
			t.Fatalf("%v: %.200q", err, part)
		}
		out = append(out, userMessage{p.Text, m.Agent, m.Model.ProviderID + "/" + m.Model.ModelID})
	}
	return out
}
