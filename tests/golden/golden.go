// Package golden compares what a test has read with what a file says.
package golden

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"agentctl/tests/must"
)

var update = flag.Bool("update", false, "write the golden files anew")

// JSON returns a value as a golden file has it.
func JSON(t testing.TB, value any) string {
	t.Helper()
	text, err := json.MarshalIndent(value, "", "  ")
	must.Do(t, err)
	return string(text) + "\n"
}

// Compare fails unless a file has the text; with -update it is written.
func Compare(t testing.TB, path, got string) {
	t.Helper()
	if *update {
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(got), 0o644)))
	}
	if want, err := os.ReadFile(path); err != nil || got != string(want) {
		t.Errorf("%s differs; go test -update writes it anew: %v. Got:\n%s", path, err, got)
	}
}
