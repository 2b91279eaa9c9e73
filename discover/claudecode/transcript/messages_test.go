package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
)

// fixtures are the captured stores.
const fixtures = "../testdata/fixtures"

const (
	aCall   = `{"parentUuid":null,"isSidechain":false,"message":{"id":"m","model":"x","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"ls"}}]},"type":"assistant","uuid":"u1","timestamp":"2026-01-01T00:00:01.000Z","cwd":"/w"}` + "\n"
	aResult = `{"parentUuid":"u1","isSidechain":false,"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_1","type":"tool_result","content":"%s","is_error":false}]},"uuid":"u2","timestamp":"2026-01-01T00:00:02.000Z","cwd":"/w"}` + "\n"
	aPrompt = `{"parentUuid":"u2","isSidechain":false,"type":"user","message":{"role":"user","content":"go on"},"uuid":"u3","timestamp":"2026-01-01T00:00:03.000Z","cwd":"/w"}` + "\n"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	must(t, err)
	return string(raw)
}

// messagesOf returns the messages of a transcript with this content, the newest first, and the errors.
func messagesOf(content []byte) (messages []discover.Message, errs []error) {
	for m, err := range Messages(fsread.NewMemoryFile("memory", content, time.Time{}), false) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		messages = append(messages, m)
	}
	return messages, errs
}

// complete cuts off the line that the writer has not finished.
func complete(content []byte) []byte { return content[:bytes.LastIndexByte(content, '\n')+1] }

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
		if want, _ := messagesOf(complete(content)); asJSON(t, got) != asJSON(t, want) {
			t.Fatalf("torn %s\ncomplete %s", asJSON(t, got), asJSON(t, want))
		}
		inOrder, last := true, time.Time{}
		for line := range bytes.Lines(complete(content)) {
			at := TimeOf(bytes.TrimSuffix(line, []byte{'\n'}))
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
