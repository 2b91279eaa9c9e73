package shells

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/tests/npm"
)

// TestPowerShellGrammar parses the script for PowerShell with the grammar that editors use: no package of Debian or npm has PowerShell
// itself. What agentctl answers to the script is tested in internal/cmd/completion.
func TestPowerShellGrammar(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := exec.CommandContext(t.Context(), self)
	program.Args = []string{"agentctl", "completion", "powershell"}
	script, err := program.Output()
	if err != nil {
		t.Fatal(err)
	}
	grammar := npm.Need(t, "@vscode/tree-sitter-wasm", "0.3.1", "@vscode/tree-sitter-wasm/wasm/tree-sitter-powershell.wasm")
	for text, right := range map[string]bool{
		string(script): true, strings.Replace(string(script), "}", "", 1): false, strings.Replace(string(script), "-join", "-joim", 1): false,
	} {
		cmd := exec.CommandContext(t.Context(), "node", "powershell.js", filepath.Dir(grammar))
		cmd.Stdin = strings.NewReader(text)
		if out, err := cmd.CombinedOutput(); err != nil || (len(out) == 0) != right {
			t.Errorf("%v\n%s\n%s", err, out, text)
		}
	}
}
