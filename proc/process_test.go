package proc

import "testing"

func TestProgramName(t *testing.T) {
	for path, want := range map[string]string{
		"/usr/bin/claude": "claude",
		"codex":           "codex",
		"/nix/store/0a-claude-code-2.1.330/bin/.claude-wrapped": "claude",
		"/nix/store/0a-opencode-1.18.33/bin/.opencode-wrapped_": "opencode",
		"/nix/store/0a-codex-0.169.0/bin/.codex-wrapped__":      "codex",
		".opencode-wrapp":      "opencode", // as the kernel cuts it
		"claude-wrapped":       "claude-wrapped",
		".claude-wrapped.bak":  ".claude-wrapped.bak",
		".claude-wrapped-copy": ".claude-wrapped-copy",
		".-wrapped":            ".-wrapped",
		".wrapped":             ".wrapped",
		"":                     ".",
	} {
		if got := ProgramName(path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}
