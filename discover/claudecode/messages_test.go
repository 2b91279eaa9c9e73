package claudecode

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
)

// readMessages reads all messages of a transcript, newest first, and the warnings.
func readMessages(t testing.TB, path string) (messages []discover.Message, warned []*discover.Warning) {
	t.Helper()
	id, parent, _ := sessionOfPath(path)
	record := discover.Record{Agent: "claude-code", ID: id, Parent: parent, Path: path}
	for m, err := range New().Messages(context.Background(), record) {
		if err != nil {
			warned = append(warned, warningsIn(t, err)...)
			continue
		}
		messages = append(messages, m)
	}
	return messages, warned
}

// transcripts returns all captured transcripts.
func transcripts(t testing.TB) (paths []string) {
	t.Helper()
	must(t, filepath.WalkDir(fixtures, func(path string, _ os.DirEntry, err error) error {
		if _, _, ok := sessionOfPath(path); ok {
			paths = append(paths, path)
		}
		return err
	}))
	if len(paths) < 30 {
		t.Fatalf("only %d transcripts", len(paths))
	}
	return paths
}

// TestMessagesOfRealStores reads every captured transcript and compares with the golden messages, one per line.
func TestMessagesOfRealStores(t *testing.T) {
	all := map[string]string{} // by store
	for _, path := range transcripts(t) {
		rel, err := filepath.Rel(fixtures, path)
		must(t, err)
		messages, warned := readMessages(t, path)
		if len(warned) > 0 {
			t.Errorf("%s: warnings: %v", rel, warned)
		}
		store, rel, _ := strings.Cut(rel, "/projects/")
		all[store] += "== " + rel + "\n"
		for _, m := range messages {
			raw, err := json.Marshal(m)
			must(t, err)
			all[store] += string(raw) + "\n"
		}
	}
	for store, text := range all {
		goldenText(t, filepath.Join("testdata/messages", store+".txt"), text)
	}
}

// oracleRecord is a record as an independent reader parses it.
type oracleRecord struct {
	Type, UUID                                                       string
	Timestamp                                                        time.Time
	IsSidechain, IsMeta, IsCompactSummary, IsVisibleInTranscriptOnly bool
	IsAPIErrorMessage                                                bool `json:"isApiErrorMessage"`
	Origin                                                           struct{ Kind string }
	Message                                                          struct {
		Model   string
		Content json.RawMessage
	}
}

func (r oracleRecord) texts(t *testing.T) (texts []string) {
	t.Helper()
	var text string
	if json.Unmarshal(r.Message.Content, &text) == nil {
		return []string{text}
	}
	var blocks []struct{ Type, Text string }
	must(t, json.Unmarshal(r.Message.Content, &blocks))
	for _, b := range blocks {
		if b.Type == "text" {
			texts = append(texts, b.Text)
		}
	}
	return texts
}

// The last user and assistant texts of each captured transcript are those that an independent reader finds.
func TestLastTextsAsStored(t *testing.T) {
	for _, path := range transcripts(t) {
		raw, err := os.ReadFile(path)
		must(t, err)
		var records []oracleRecord
		for line := range bytes.Lines(raw) {
			var r oracleRecord
			must(t, json.Unmarshal(line, &r))
			records = append(records, r)
		}
		slices.SortStableFunc(records, func(a, b oracleRecord) int { return a.Timestamp.Compare(b.Timestamp) })
		want := map[discover.Role]string{}
		side := strings.HasPrefix(filepath.Base(path), "agent-")
		for _, r := range records {
			human := r.Type == "user" && !r.IsMeta && !r.IsCompactSummary && cmp.Or(r.Origin.Kind, "human") == "human"
			model := r.Type == "assistant" && !r.IsAPIErrorMessage
			if r.IsSidechain != side || !human && !model {
				continue
			}
			for _, text := range r.texts(t) {
				if text != "No response requested." && !strings.HasPrefix(text, "<") && !strings.HasPrefix(text, "[Request") {
					want[discover.Role(r.Type)] = text
				}
			}
		}
		got := map[discover.Role]string{}
		messages, _ := readMessages(t, path)
		for _, m := range slices.Backward(messages) {
			if m.Kind == discover.KindText && m.Role != discover.RoleSystem && !strings.HasPrefix(m.Text, "/") && !strings.HasPrefix(m.Text, "! ") {
				got[m.Role] = m.Text
			}
		}
		if asJSON(t, got) != asJSON(t, want) {
			t.Errorf("%s: got %s, want %s", path, asJSON(t, got), asJSON(t, want))
		}
	}
}
