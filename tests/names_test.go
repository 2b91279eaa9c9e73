package tests_test

import (
	"go/ast"
	"go/token"
	"regexp"
	"strings"
	"testing"
)

// What the program does may depend on what an adapter says, never on which agent it is: only an agent's own folder and the
// registry name it, or a family of its models.
func TestAgentsAreNamedInTheirFoldersOnly(t *testing.T) {
	folders := []string{"discover/agents/", "discover/claudecode/", "discover/codex/", "discover/copilot/", "discover/opencode/", "discover/pi/", "tests/"}
	// Texts for people, which nothing is decided by.
	allowed := map[string]string{
		"internal/cli/launch.go":    "examples of command lines",
		"internal/config/config.go": "an example of a configuration",
	}
	agent := regexp.MustCompile(`(?i)claude|codex|copilot|opencode|opus|sonnet|haiku|^"pi"$`)
files:
	for _, f := range files(t) {
		if f.isTest() {
			continue
		}
		for _, folder := range folders {
			if strings.HasPrefix(f.path, folder) {
				continue files
			}
		}
		ast.Inspect(f.File, func(n ast.Node) bool {
			text := ""
			switch n := n.(type) {
			case *ast.BasicLit:
				if n.Kind == token.STRING {
					text = n.Value
				}
			case *ast.Ident:
				text = n.Name
			}
			if !agent.MatchString(text) {
				return true
			}
			if _, ok := allowed[f.path]; ok {
				allowed[f.path] = ""
			} else {
				t.Errorf("%s: %s names an agent: let its adapter say what is wanted", f.at(n), text)
			}
			return true
		})
	}
	for path, reason := range allowed {
		if reason != "" {
			t.Errorf("%s is allowed (%s), but names no agent", path, reason)
		}
	}
}
