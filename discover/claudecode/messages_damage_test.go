package claudecode

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
)

// readMessagesOf reads the messages of a transcript with this content.
func readMessagesOf(t testing.TB, dir string, content []byte) ([]discover.Message, []*discover.Warning) {
	t.Helper()
	return readMessages(t, writeTranscript(t, dir, string(content)))
}

// transcriptOf is the content of a captured transcript.
func transcriptOf(t testing.TB, pattern string) []byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(fixtures, pattern))
	must(t, err)
	if len(files) == 0 {
		t.Fatalf("no %s", pattern)
	}
	content, err := os.ReadFile(files[0])
	must(t, err)
	return content
}

const (
	outOfOrder = "09-*/projects/*/*" + transcriptSuffix
	longTUI    = "03-*/projects/*/" + tui1 + transcriptSuffix
)

// A message keeps its ID while the transcript grows, and its call gets a result.
func TestMessagesKeepTheirIDs(t *testing.T) {
	for _, pattern := range []string{outOfOrder, longTUI} {
		lines := bytes.SplitAfter(transcriptOf(t, pattern), []byte{'\n'})
		last := map[string]bool{}
		for n := range len(lines) + 1 {
			messages, _ := readMessagesOf(t, t.TempDir(), bytes.Join(lines[:n], nil))
			now := map[string]bool{}
			for _, m := range messages {
				if now[m.ID] {
					t.Errorf("%s, %d lines: %s twice", pattern, n, m.ID)
				}
				now[m.ID] = true
			}
			for id := range last {
				// A compaction is known by its boundary until its summary is there.
				if !now[id] && !bytes.Contains(lines[n-2], []byte("compact_boundary")) {
					t.Errorf("%s, %d lines: %s is gone", pattern, n, id)
				}
			}
			last = now
		}
	}
}

// Consecutive damaged records cost one warning, and the other messages are shown.
func TestMessagesAroundDamage(t *testing.T) {
	content := transcriptOf(t, outOfOrder)
	want, _ := readMessagesOf(t, t.TempDir(), content)
	for at := range content {
		if at > 0 && content[at-1] != '\n' {
			continue
		}
		damaged := bytes.Join([][]byte{content[:at], []byte("{\"type\":\n\x00\x00\n"), content[at:]}, nil)
		got, warned := readMessagesOf(t, t.TempDir(), damaged)
		if asJSON(t, got) != asJSON(t, want) || len(warned) != 1 {
			t.Fatalf("damaged at %d: warnings %v, got %s", at, warned, asJSON(t, got))
		}
	}
}

const (
	aCall   = `{"parentUuid":null,"isSidechain":false,"message":{"id":"m","model":"x","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"ls"}}]},"type":"assistant","uuid":"u1","timestamp":"2026-01-01T00:00:01.000Z","cwd":"/w"}` + "\n"
	aResult = `{"parentUuid":"u1","isSidechain":false,"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_1","type":"tool_result","content":"%s","is_error":false}]},"uuid":"u2","timestamp":"2026-01-01T00:00:02.000Z","cwd":"/w"}` + "\n"
	aPrompt = `{"parentUuid":"u2","isSidechain":false,"type":"user","message":{"role":"user","content":"go on"},"uuid":"u3","timestamp":"2026-01-01T00:00:03.000Z","cwd":"/w"}` + "\n"
)

// A line that is too long costs a warning.
func TestMessagesWithALongLine(t *testing.T) {
	line := fmt.Sprintf(aResult, strings.Repeat("x", fsread.MaxLine+fsread.MaxLine/4))
	for _, before := range []string{"", aCall} {
		got, warned := readMessagesOf(t, t.TempDir(), []byte(before+line+aPrompt))
		if len(warned) != 1 || len(got) == 0 || got[0].Text != "go on" {
			t.Errorf("warnings %v, %d messages", warned, len(got))
		}
	}
}

// A file may grow, shrink or be replaced while it is read.
func TestMessagesOfAChangingFile(t *testing.T) {
	content := bytes.Repeat(transcriptOf(t, longTUI), 20)
	for name, change := range map[string]func(path string) error{
		"grows":    func(path string) error { return os.WriteFile(path, append(content, aPrompt...), 0o600) },
		"shrinks":  func(path string) error { return os.Truncate(path, 100) },
		"empty":    func(path string) error { return os.Truncate(path, 0) },
		"replaced": func(path string) error { return os.Rename(writeTranscript(t, t.TempDir(), aPrompt), path) },
		"vanishes": os.Remove,
	} {
		path := writeTranscript(t, t.TempDir(), string(content))
		n := 0
		for m, err := range New().Messages(context.Background(), discover.Record{ID: alive, Path: path}) {
			if n++; n == 3 {
				must(t, change(path))
			}
			if err == nil && (m.ID == "" || m.Role == "" || m.Kind == "") {
				t.Errorf("%s: %+v", name, m)
			}
		}
		if n < 3 {
			t.Errorf("%s: %d messages", name, n)
		}
	}
}

func TestMessagesOfNothing(t *testing.T) {
	if got, warned := readMessages(t, ""); len(got)+len(warned) > 0 {
		t.Errorf("of no transcript: %v, %v", got, warned)
	}
	if got, warned := readMessages(t, filepath.Join(t.TempDir(), alive+transcriptSuffix)); len(got) > 0 || len(warned) != 1 {
		t.Errorf("of a lost transcript: %v, %v", got, warned)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	n := 0
	path := writeTranscript(t, t.TempDir(), strings.Repeat(aPrompt, 1000))
	for _, err := range New().Messages(ctx, discover.Record{ID: alive, Path: path}) {
		must(t, err)
		cancel()
		n++
	}
	if n > 100 {
		t.Errorf("%d messages after the end", n)
	}
}
