package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestComplete(t *testing.T) {
	for words, want := range map[string]string{
		"":                       strings.Join(visibleVerbs(), " "),
		"li":                     "list",
		"list --st":              "--status",
		"list --status ":         "running waiting idle stopped unknown",
		"list --status s":        "stopped",
		"list --status=s":        "--status=stopped",
		"list --status = s":      "stopped",
		"list --adapter c":       "claude-code codex",
		"ls --since 3":           "30d",
		"list --cwd ":            "",
		"list ":                  "",
		"status aaaa":            "aaaaaaaa-1 aaaaaaaa-2",
		"show --json c":          "cccccccc cccccccc",
		"peek aaaa":              "aaaaaaaa-1 aaaaaaaa-2",
		"logs -f -n 5 c":         "cccccccc cccccccc",
		"logs --fo":              "--follow",
		"stop ":                  "aaaaaaaa-1",
		"stop aaaaaaaa-1 ":       "aaaaaaaa-1",
		"wait ":                  "aaaaaaaa-1",
		"wait --until i":         "idle",
		"resume c":               "cccccccc cccccccc",
		"resume --model m c":     "cccccccc cccccccc",
		"resume cccccccc ":       "",
		"launch c":               "claude-code codex",
		"launch codex ":          "",
		"launch --permissions e": "edit",
		"status --adapter codex": "codex",
		"status --al":            "--alive",
		"status -- --al":         "",
		"completion ":            "bash zsh fish",
		"worktree ":              "list clean",
		"worktree clean --del":   "--delete-branch",
		"hooks run pre-c":        "pre-commit",
		"hooks run pre-commit ":  "",
		"help li":                "list",
		"help worktree c":        "clean",
		"worktree nonsense x":    "",
		"nonsense x":             "",
		"__complete x":           "",
	} {
		env, out := testEnv(t)
		if got := run(env, append([]string{"__complete"}, strings.Split(words, " ")...)...); got != 0 || out.stderr.Len() > 0 {
			t.Errorf("%q: exit %d, %q", words, got, out.stderr.String())
		}
		var got []string
		for line := range strings.Lines(out.stdout.String()) {
			word, _, ok := strings.Cut(line, "\t")
			if !ok {
				t.Errorf("%q: line %q has no tab", words, line)
			}
			got = append(got, word)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %v, want %s", words, got, want)
		}
	}
	env, out := testEnv(t)
	if run(env, "__complete", "status", "aaaaaaaa-2"); out.stdout.String() != "aaaaaaaa-2\tcodex stopped: title of aaaaaaaa-2\n" {
		t.Errorf("%q", out.stdout.String())
	}
}

// The scripts work in the shells that are installed: bash is everywhere, the others are checked where they are.
func TestCompletionScripts(t *testing.T) {
	env, out := testEnv(t)
	dir := t.TempDir()
	fake := filepath.Join(dir, "agentctl")
	if err := os.WriteFile(fake, []byte("#!/bin/sh\nprintf 'list\\tlist live\\nlast\\twith: colon (%s)\\n' \"$*\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, shell := range shells() {
		out.stdout.Reset()
		if got := run(env, "completion", shell); got != 0 {
			t.Fatalf("%s: exit %d", shell, got)
		}
		script := filepath.Join(dir, shell)
		if err := os.WriteFile(script, out.stdout.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		path, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("%s is not installed: its script is not parsed", shell)
			continue
		}
		if text, err := exec.Command(path, "-n", script).CombinedOutput(); err != nil {
			t.Errorf("%s -n: %v %s", shell, err, text)
		}
	}
	// Bash, really completing.
	body := `. "$1"; COMP_WORDS=("$2" li x); COMP_CWORD=1; COMP_TYPE=$3; _agentctl; printf '%s|' "${COMPREPLY[@]}"`
	for kind, want := range map[string]string{
		"9":  "list|last|",
		"63": "list  (list live)|last  (with: colon (__complete li))|",
	} {
		got, err := exec.Command("bash", "-c", body, "bash", filepath.Join(dir, "bash"), fake, kind).Output()
		if err != nil || string(got) != want {
			t.Errorf("bash, kind %s: %q, %v; want %q", kind, got, err, want)
		}
	}
}

// visibleVerbs are the commands that people see.
func visibleVerbs() []string {
	var names []string
	for _, c := range newApp(Env{}, verbs()).Commands {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	return names
}
