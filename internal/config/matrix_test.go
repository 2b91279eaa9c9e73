package config

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"agentctl/tests/must"
)

func matrixFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.toml")
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
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

func TestLoadPrices(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prices.toml")
	for _, tc := range []struct{ text, wrong string }{
		{"[\"gpt-5.2\"]\nin = 1.25\nout = 10\ncache_read = 0\n", ""},
		{"", `: there is no model; want a table for each, such as ["MODEL"], with in and out`},
		{"[m]\nin = \"1\"\n", `:2:7: m.in: "1" is not a number of USD`},
		{"[m]\nin = -1\n", `:2:6: m.in: -1 is not a price`},
		{"[m]\nin = nan\n", `:2:6: m.in: NaN is not a price`},
		{"[m]\ninput = 1\n", `:2:9: m.input: no such key; valid keys: cache_read, cache_write, in, out`},
		{"m = 1\n", `: m: want a table, as in ["m"]`},
		{"[m\n", `:2:3: expected`},
	} {
		must.Do(t, os.WriteFile(path, []byte(tc.text), 0o600))
		got, _, err := LoadPrices(path, nil)
		if tc.wrong == "" {
			if p := got["gpt-5.2"]; err != nil || *p.In != 1.25 || *p.Out != 10 || *p.CacheRead != 0 || p.CacheWrite != nil {
				t.Errorf("%+v, %v", got, err)
			}
			continue
		}
		if err == nil || len(err.Error()) < len(path+tc.wrong) || err.Error()[:len(path+tc.wrong)] != path+tc.wrong {
			t.Errorf("%q: %v, want %s", tc.text, err, tc.wrong)
		}
	}
	if _, _, err := LoadPrices(path+"x", nil); err == nil {
		t.Error("a missing file is no error")
	}
}
