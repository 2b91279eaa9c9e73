package realagents

import (
	"bufio"
	"cmp"
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"agentctl/internal/output"
	"agentctl/tests/realagents/install"
)

// words are what was said last in a session, by the user and by the model; "" if nothing was.
type words struct{ user, assistant string }

// showsTheLastWords: "for every real-agent scenario, peek shows the last user and assistant texts exactly as stored". It
// is asked at the end of each test, of each session that there is then, live or dead, in terminals, daemons and servers
// as well as headless. What is stored is read here without any code of the program under test.
func (c agentctl) showsTheLastWords() {
	if c.t.Failed() {
		return
	}
	var all []session
	out, errs, _ := c.run("list", "-a", "--json", "--children")
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		c.t.Errorf("list: %v\n%s", err, errs)
	}
	said := 0
	for _, s := range all {
		if s.ID == nil || s.Path == "" {
			continue
		}
		var got, want words
		if !poll(func() bool { // it may go on between the two readings
			want = storedWords(c.t, s)
			got = c.peeked(s)
			return got == want
		}) {
			c.t.Errorf("the last words of %s %s in %s are\n%+q, stored are\n%+q", s.Adapter, *s.ID, s.Path, got, want)
			return
		}
		if want.user != "" {
			said++
		}
	}
	c.t.Logf("peek shows the last words of %d of %d sessions as they are stored", said, len(all))
}

// peeked are the last words by peek.
func (c agentctl) peeked(s session) (w words) {
	out, _, _ := c.run("peek", *s.ID+"@"+s.CWD, "--adapter", s.Adapter, "-n", "0", "--json")
	var messages []output.Message
	if json.Unmarshal([]byte(out), &messages) != nil {
		return w
	}
	for _, m := range messages {
		switch {
		case m.Kind != "text":
		case m.Role == "user":
			w.user = *m.Text
		case m.Role == "assistant":
			w.assistant = *m.Text
		}
	}
	return w
}

func storedWords(t *testing.T, s session) words {
	t.Helper()
	switch s.Adapter {
	case install.ClaudeCode:
		return claudeWords(t, s)
	case install.Codex:
		return codexWords(t, s.Path)
	}
	return openCodeWords(t, s)
}

// records are the lines of a file, as far as they are whole.
func records(t *testing.T, path string) (out []map[string]any) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Error(err)
		return nil
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var r map[string]any
		if json.Unmarshal(lines.Bytes(), &r) == nil {
			out = append(out, r)
		}
	}
	return out
}

// at is what stands below the names, nil if nothing does.
func at(v any, names ...string) any {
	for _, name := range names {
		object, _ := v.(map[string]any)
		v = object[name]
	}
	return v
}

func textAt(v any, names ...string) string {
	text, _ := at(v, names...).(string)
	return text
}

// texts are those of a message's content, which is a text or blocks.
func texts(content any, kinds ...string) (out []string) {
	if text, ok := content.(string); ok {
		return []string{text}
	}
	blocks, _ := content.([]any)
	for _, b := range blocks {
		if slices.Contains(kinds, textAt(b, "type")) {
			out = append(out, textAt(b, "text"))
		}
	}
	return out
}

// command is what is stored of what a person has typed after a slash.
var command = regexp.MustCompile(`(?s)<command-name>(.*?)</command-name>.*?(?:<command-args>(.*?)</command-args>|$)`)

// pasted is what is stored of what a person has pasted.
var pasted = regexp.MustCompile(`(?s)\n{0,2}<pasted_content id="[0-9a-f]{4}">\n(.*?)\n</pasted_content id="[0-9a-f]{4}">\n{0,2}`)

// claudeWords leaves out what Claude Code writes in the user's or the model's name. What was said last is told by the times of
// the records: a terminal's first ones are not always written in their order (SEEN 2.1.197).
func claudeWords(t *testing.T, s session) (w words) {
	t.Helper()
	stored := records(t, s.Path)
	slices.SortStableFunc(stored, func(a, b map[string]any) int { return strings.Compare(textAt(a, "timestamp"), textAt(b, "timestamp")) })
	for _, r := range stored {
		if at(r, "isSidechain") == true && s.ParentID == "" || at(r, "isMeta") == true || at(r, "isCompactSummary") == true {
			continue
		}
		if origin := cmp.Or(textAt(r, "origin", "kind"), textAt(r, "attachment", "origin", "kind")); origin != "" && origin != "human" {
			continue
		}
		said := texts(at(r, "message", "content"), "text")
		for i := range said {
			said[i] = pasted.ReplaceAllString(said[i], "$1")
		}
		switch kind := textAt(r, "type"); {
		case kind == "attachment" && textAt(r, "attachment", "type") == "queued_command":
			if said = texts(at(r, "attachment", "prompt"), "text"); !strings.HasPrefix(said[0], "<") {
				w.user = said[len(said)-1]
			}
		case len(said) == 0:
		case kind == "user" && command.MatchString(said[0]):
			w.user = strings.TrimSpace(strings.Join(command.FindStringSubmatch(said[0])[1:], " "))
		case kind == "user" && !strings.HasPrefix(said[0], "[Request interrupted") && !strings.HasPrefix(said[0], "<"):
			w.user = strings.Join(said, "\n")
		case kind == "assistant" && textAt(r, "message", "model") != "<synthetic>":
			w.assistant = said[len(said)-1]
		}
	}
	return w
}

// codexWords knows both dialects.
func codexWords(t *testing.T, path string) (w words) {
	t.Helper()
	for _, r := range records(t, path) {
		if textAt(r, "type") != "event_msg" {
			continue
		}
		switch textAt(r, "payload", "type") {
		case "user_message":
			w.user = textAt(r, "payload", "message")
		case "agent_message":
			w.assistant = textAt(r, "payload", "message")
		case "item_completed":
			said := strings.Join(texts(at(r, "payload", "item", "content"), "text", "Text"), "")
			switch textAt(r, "payload", "item", "type") {
			case "UserMessage":
				w.user = said
			case "AgentMessage":
				w.assistant = said
			}
		}
	}
	return w
}

func openCodeWords(t *testing.T, s session) (w words) {
	t.Helper()
	take := func(message, part string) {
		var m, p map[string]any
		if json.Unmarshal([]byte(message), &m) != nil || json.Unmarshal([]byte(part), &p) != nil ||
			textAt(p, "type") != "text" || at(p, "synthetic") == true || at(p, "ignored") == true || textAt(p, "text") == "" {
			return
		}
		switch textAt(m, "role") {
		case "user":
			w.user = textAt(p, "text")
		case "assistant":
			w.assistant = textAt(p, "text")
		}
	}
	if filepath.Ext(s.Path) != ".db" {
		storage := filepath.Join(s.Home, "storage")
		messages, _ := filepath.Glob(filepath.Join(storage, "message", *s.ID, "*.json"))
		for _, m := range messages {
			parts, _ := filepath.Glob(filepath.Join(storage, "part", strings.TrimSuffix(filepath.Base(m), ".json"), "*.json"))
			for _, p := range parts {
				message, _ := os.ReadFile(m)
				part, _ := os.ReadFile(p)
				take(string(message), string(part))
			}
		}
		return w
	}
	db, err := sql.Open("sqlite3", "file:"+s.Path+"?mode=ro&_pragma=busy_timeout(5000)")
	if err != nil {
		t.Error(err)
		return w
	}
	defer db.Close()
	rows, err := db.Query(`select m.data, p.data from message m join part p on p.message_id = m.id
		where m.session_id = ? order by m.time_created, m.id, p.id`, *s.ID)
	if err != nil {
		t.Error(err)
		return w
	}
	defer rows.Close()
	for rows.Next() {
		var message, part string
		if err := rows.Scan(&message, &part); err != nil {
			t.Error(err)
		}
		take(message, part)
	}
	return w
}
