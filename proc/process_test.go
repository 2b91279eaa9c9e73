package proc

import (
	"maps"
	"strings"
	"testing"
)

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

// FuzzSelectEnv: a named variable is returned as it was written, whatever is around it.
func FuzzSelectEnv(f *testing.F) {
	f.Add("CLAUDE_CONFIG_DIR", "/home/me/.claude", "SECRET=x", "CODEX_HOME=")
	f.Add("A", "b=c\nd", "A", "AA=A=1")
	f.Add("A", "1", "B", "A=2")
	f.Add("HOME", "", "", "=")
	f.Fuzz(func(t *testing.T, key, value, before, after string) {
		key = strings.NewReplacer("\x00", "", "=", "").Replace(key)
		value, _, _ = strings.Cut(value, "\x00")
		if strings.HasPrefix(before, key+"=") || strings.Contains(before, "\x00"+key+"=") {
			return // it would be the first of two
		}
		environ := before + "\x00" + key + "=" + value + "\x00" + after
		if got := selectEnv([]byte(environ), []string{key}); !maps.Equal(got, map[string]string{key: value}) {
			t.Errorf("%q gives %q", environ, got)
		}
	})
}
