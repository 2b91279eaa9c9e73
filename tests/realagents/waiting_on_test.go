package realagents

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"agentctl/internal/output"
	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// asksToEdit has an agent ask its user for permission to replace a line of a file by two, and checks what status
// says it waits on.
func asksToEdit(t *testing.T, w *world.World, c agentctl, a world.Agent) {
	t.Helper()
	file := filepath.Join(a.Dir(), "notes.txt")
	if err := os.WriteFile(file, []byte("one\nand\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var prompt string
	var flags []string
	want := output.WaitingOn{Path: file, Brief: file, Diff: &output.Diff{Added: 2, Removed: new(1)}}
	switch a.Agent() {
	case install.ClaudeCode:
		want.Tool = "Edit"
		prompt = `edits [[tool Read {"file_path":"` + file + `"};; tool Edit {"file_path":"` + file + `","old_string":"one\nand","new_string":"two\nthree\nand"}]]`
	case install.OpenCode:
		want.Tool = "edit"
		prompt = `edits [[tool read {"filePath":"` + file + `"};; tool edit {"filePath":"` + file + `","oldString":"one\nand","newString":"two\nthree\nand"}]]`
	case install.Codex: // which offers this model no other tool for it
		flags = []string{"--sandbox", "read-only", "--ask-for-approval", "on-request"}
		want.Tool, want.Path = "exec_command", "notes.txt"
		want.Brief = "apply_patch <<'P'\n*** Begin Patch\n*** Update File: notes.txt\n@@\n-one\n+two\n+three\n and\n*** End Patch\nP"
		command, _ := json.Marshal(want.Brief)
		prompt = `edits [[tool exec_command {"cmd":` + strings.ReplaceAll(string(command), `\u003c`, "<") + `}]]`
	}
	text := want.Tool + ": notes.txt +2 -1"
	if a.Agent() == install.Codex {
		text = want.Tool + ": " + strings.Join(strings.Fields(want.Brief), " ") + " +2 -1"
	}

	asking := a.TUI(flags...)
	asking.Submit(prompt)
	id := idOf(t, w, a, "edits [[tool")
	var got *output.WaitingOn
	if !poll(func() bool {
		got = c.status(id).WaitingOn
		return reflect.DeepEqual(got, &want)
	}) {
		t.Errorf("it waits on %+v, want %+v", got, want)
	}
	if out, _, _ := c.run("status", id); !strings.Contains(out, "waiting (permission): "+text+"\n") {
		t.Errorf("status has no %q:\n%s", text, out)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "one\nand\n" {
		t.Errorf("the file has %q, %v", got, err)
	}
}
