package e2e_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestCommandsAreDocumented holds README.md against the commands of scripts, and against the orders and steps of the fake agents.
func TestCommandsAreDocumented(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, m := range regexp.MustCompile("`([a-z-]+)").FindAllStringSubmatch(string(text), -1) {
		documented[m[1]] = true
	}
	names := map[string]bool{}
	for name := range scriptCommands() {
		names[name] = true
	}
	for _, file := range []string{"fake_test.go", "fake_claude_test.go", "fake_codex_test.go", "fake_opencode_test.go", "fake_sample_test.go", "fake_turn_test.go"} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^\tcase ("[a-z-]+"(, "[a-z-]+")*):`).FindAllStringSubmatch(string(source), -1) {
			for name := range strings.SplitSeq(m[1], ", ") {
				names[strings.Trim(name, `"`)] = true
			}
		}
	}
	if len(names) < 50 {
		t.Errorf("only %d names found: %v", len(names), names)
	}
	for name := range names {
		if !documented[name] {
			t.Errorf("README.md does not explain %q", name)
		}
	}
}
