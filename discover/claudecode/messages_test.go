package claudecode

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

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

// Some models number their calls anew in each answer: a result is that of the call before it.
func TestCallsNumberedAnew(t *testing.T) {
	lines := transcriptLines{}.prompt("do it").calls("0", "Read").answers("0").calls("0", "Bash")
	messages, _ := readMessages(t, writeTranscript(t, t.TempDir(), strings.Join(lines, "\n")+"\n"))
	if len(messages) != 3 || messages[0].Tool.State != discover.ToolOpen || messages[1].Tool.State != discover.ToolDone {
		t.Errorf("%s", asJSON(t, messages))
	}
}
