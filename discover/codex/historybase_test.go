package codex

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/discover"
)

// editedPrompts copies a thread of four rollouts, without the records of these kinds in the newest ones.
func editedPrompts(t *testing.T, kinds ...string) (home string) {
	t.Helper()
	home = t.TempDir()
	if err := os.CopyFS(home, os.DirFS("testdata/30-edited-prompt")); err != nil {
		t.Fatal(err)
	}
	newer, _ := filepath.Glob(filepath.Join(home, "sessions/2026/11/21/*_*.jsonl"))
	if len(newer) != 3 {
		t.Fatalf("newer rollouts: %v", newer)
	}
	for _, path := range newer[len(newer)-1:] {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var kept [][]byte
		for line := range bytes.Lines(raw) {
			if !containsAny(string(line), kinds) {
				kept = append(kept, line)
			}
		}
		if err := os.WriteFile(path, bytes.Join(kept, nil), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return home
}

func containsAny(line string, kinds []string) bool {
	for _, kind := range kinds {
		if strings.Contains(line, `"type":"`+kind+`"`) {
			return true
		}
	}
	return false
}

// A rollout that begins with an edited prompt, and contains neither settings nor tokens, has those of the rollout that it continues.
func TestSegmentInheritsSettings(t *testing.T) {
	whole := readHome(t, editedPrompts(t), discover.ReadOptions{Tokens: true})[0]
	if whole.Model == "" || whole.Tokens == nil || whole.Tokens.Total == 0 {
		t.Fatalf("%+v", whole)
	}
	for _, tokens := range []bool{false, true} {
		r := readHome(t, editedPrompts(t, "turn_context", "thread_settings_applied"), discover.ReadOptions{Tokens: tokens})[0]
		if r.Model != whole.Model || r.Meta.Get("sandbox") != whole.Meta.Get("sandbox") || r.Meta.Get("approval") != whole.Meta.Get("approval") {
			t.Errorf("without settings of its own: model %q, %v", r.Model, r.Meta)
		}
	}
	r := readHome(t, editedPrompts(t, "token_count", "token_usage_record"), discover.ReadOptions{Tokens: true})[0]
	if r.Tokens == nil || r.Tokens.Total == 0 || r.Tokens.Total >= whole.Tokens.Total || r.Tokens.Context == 0 || r.Tokens.Window == 0 {
		t.Errorf("without counts of its own: %+v, with them %+v", r.Tokens, whole.Tokens)
	}
}

// If the rollout that it continues is deleted, a rollout has what it contains itself.
func TestSegmentWithoutBase(t *testing.T) {
	home := editedPrompts(t, "turn_context", "thread_settings_applied", "token_count", "token_usage_record")
	older, _ := filepath.Glob(filepath.Join(home, "sessions/2026/11/21/*edfc.jsonl"))
	more, _ := filepath.Glob(filepath.Join(home, "sessions/2026/11/21/*_01a1fff[34]-[42][b0]*.jsonl"))
	for _, path := range append(older, more...) {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if r := readHome(t, home, discover.ReadOptions{Tokens: true})[0]; r.Model != "" || r.ID == "" {
		t.Errorf("%+v", r)
	}
}
