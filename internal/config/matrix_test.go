package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func matrixFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoadMatrix(t *testing.T) {
	m, err := LoadMatrix(matrixFile(t, `
prompt = "mend it"
cwd = "~/api"
spec = "spec.md"
[[matrix]]
adapter = "codex"
[[matrix]]
adapter = "opencode"
model = ["a/b", "c/d"]
branch = "mine"
base_branch = "main"
`), "/home/ana", []string{"codex", "opencode"})
	want := Matrix{Prompt: "mend it", Dir: "/home/ana/api", Spec: "spec.md", Rows: []MatrixRow{
		{Agent: "codex"}, {Agent: "opencode", Models: []string{"a/b", "c/d"}, Branch: "mine", Base: "main"},
	}}
	if err != nil || !reflect.DeepEqual(m, want) {
		t.Errorf("%+v, %v", m, err)
	}
	m, err = LoadMatrix(matrixFile(t, "[[matrix]]\nadapter = \"codex\"\nmodel = \"m\"\n"), "", []string{"codex"})
	if err != nil || !reflect.DeepEqual(m.Rows, []MatrixRow{{Agent: "codex", Models: []string{"m"}}}) {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestLoadMatrixErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "matrix: there is no [[matrix]] entry",
		"prompt = 3\n":              ":1:10: prompt: 3 is not text",
		"prompt = \"\"\n":           ":1:11: prompt: \"\" is not text",
		"promt = \"a\"\n":           ":1:10: promt: no such key; valid keys: cwd, matrix, prompt, spec",
		"[[matrix]]\nmodel = \"m\"": "matrix[1].adapter: it is missing",
		"[[matrix]]\nadapter = \"codex\"\n[[matrix]]\nadapter = \"gemini\"\n": ":4:12: matrix[2].adapter: must be codex, not \"gemini\"",
		"[[matrix]]\nadapter = \"codex\"\nmodl = \"m\"\n":                     ":3:9: matrix[1].modl: no such key; valid keys: adapter, base_branch, branch, model",
		"[[matrix]]\nadapter = \"codex\"\nmodel = [1]\n":                      ":3:10: matrix[1].model: 1 is not text",
		"matrix = 3\n":                    ":1:10: matrix: want entries that begin with [[matrix]]",
		"[[matrix]]\nadapter = \"codex\n": ":2:",
	} {
		path := matrixFile(t, text)
		_, err := LoadMatrix(path, "", []string{"codex"})
		if bad := (*Error)(nil); !errors.As(err, &bad) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if _, err := LoadMatrix(filepath.Join(t.TempDir(), "none"), "", nil); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Error(err)
	}
}
