package schema_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/internal/config"
	"agentctl/tests/npm"
)

// taploVersion is the version on npm of the program by which editors check TOML files.
const taploVersion = "0.7.0"

// Taplo finds the schema by the line that docs/cli.md names, accepts the files that agentctl accepts, and refuses each of the others.
func TestTaplo(t *testing.T) {
	program := npm.Need(t, "@taplo/cli", taploVersion, "@taplo/cli/dist/cli.js")
	dir := t.TempDir()
	const schemaLine = "#:schema ./config.schema.json\n"
	doc, err := os.ReadFile("../../docs/cli.md")
	if err != nil || !strings.Contains(string(doc), "`"+strings.TrimSpace(schemaLine)+"`") {
		t.Errorf("docs/cli.md has no %q (%v)", schemaLine, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.schema.json"), []byte(config.Schema([]string{"claude-code", "codex", "opencode"})), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"valid", "invalid"} {
		sources, err := filepath.Glob("../../internal/config/testdata/" + folder + "/*.toml")
		if err != nil || len(sources) < 3 {
			t.Fatal(sources, err)
		}
		args := []string{program, "lint"}
		for _, source := range sources {
			text, err := os.ReadFile(source)
			if err != nil {
				t.Fatal(err)
			}
			name := filepath.Join(dir, folder+"-"+filepath.Base(source))
			if err := os.WriteFile(name, []byte(schemaLine+string(text)), 0o600); err != nil {
				t.Fatal(err)
			}
			args = append(args, name)
		}
		cmd := exec.CommandContext(t.Context(), "node", args...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir)
		out, err := cmd.CombinedOutput()
		if (err == nil) != (folder == "valid") {
			t.Errorf("%s files: %v\n%s", folder, err, out)
		}
		for _, name := range args[2:] {
			if refused := strings.Contains(string(out), `error=schema validation failed path="`+name+`"`); refused != (folder == "invalid") {
				t.Errorf("%s is refused: %t\n%s", name, refused, out)
			}
		}
	}
}
