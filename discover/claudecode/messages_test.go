package claudecode

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
)

// readMessages reads all messages of a transcript, newest first, and the warnings.
func readMessages(t testing.TB, path string) (messages []discover.Message, warned []*discover.Warning) {
	t.Helper()
	id, _ := idOfFile(filepath.Base(path))
	record := discover.Record{Agent: "claude-code", ID: id, Parent: parentOf(path), Path: path}
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
		if _, ok := idOfFile(filepath.Base(path)); ok {
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

// messagesOf returns the messages of a transcript with this content, the newest first, and the errors.
func messagesOf(content []byte) (messages []discover.Message, errs []error) {
	t := messageReader{ctx: context.Background(), yield: func(m discover.Message, err error) bool {
		if err != nil {
			errs = append(errs, err)
		} else {
			messages = append(messages, m)
		}
		return true
	}}
	_ = t.readAll(fsread.NewMemoryFile("memory", content, time.Time{}))
	return messages, errs
}

// An unfinished last line changes nothing before it, and messages come newest first.
func FuzzMessages(f *testing.F) {
	must(f, filepath.WalkDir(fixtures, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".jsonl" {
			return err
		}
		content, err := os.ReadFile(path)
		if len(content) < 8_000 {
			f.Add(content)
		}
		return err
	}))
	f.Add([]byte(aCall + fmt.Sprintf(aResult, "x") + aPrompt))
	f.Fuzz(func(t *testing.T, content []byte) {
		got, warned := messagesOf(content)
		if want, _ := messagesOf(asIfComplete(content)); asJSON(t, got) != asJSON(t, want) {
			t.Fatalf("torn %s\ncomplete %s", asJSON(t, got), asJSON(t, want))
		}
		inOrder, last := true, time.Time{}
		for line := range bytes.Lines(asIfComplete(content)) {
			at := timeOf(bytes.TrimSuffix(line, []byte{'\n'}))
			inOrder = inOrder && !at.IsZero() && !at.Before(last)
			last = at
		}
		for i, m := range got {
			if m.ID == "" || m.Role == "" || (m.Tool == nil) == (m.Kind == discover.KindTool) {
				t.Fatalf("%+v", m)
			}
			if inOrder && len(warned) == 0 && i > 0 && m.Time.After(got[i-1].Time) {
				t.Fatalf("%s before %s", got[i-1].Time, m.Time)
			}
		}
	})
}
