package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/tests/debian"
)

// jqPackage is the jq that the documents' commands run with where none is installed.
var jqPackage = debian.Package{Name: "jq", Version: "1.6", Files: []string{"usr/bin/jq"}}

// addJQ puts a jq into a directory of PATH if the machine has none. A machine that is not Debian's skips the test then; a CI run fails.
func addJQ(t *testing.T, dir string) {
	t.Helper()
	if _, err := exec.LookPath("jq"); err == nil {
		return
	}
	err := unpackJQ(t.Context(), dir)
	switch {
	case errors.Is(err, debian.ErrMissing) && os.Getenv("CI") != "true":
		t.Skipf("the documents' commands need jq: %v", err)
	case err != nil:
		t.Fatal(err)
	}
}

// unpackJQ writes a script jq into a directory, which runs the one of [jqPackage] with its own libraries.
func unpackJQ(ctx context.Context, dir string) error {
	root, err := debian.Ensure(ctx, jqPackage)
	if err != nil {
		return err
	}
	var variables []string
	for _, v := range root.Environ(nil) {
		if strings.HasPrefix(v, "LD_LIBRARY_PATH=") {
			variables = append(variables, "'"+v+"'")
		}
	}
	script := fmt.Sprintf("#!/bin/sh\nexec env %s '%s' \"$@\"\n", strings.Join(variables, " "), root.Path("usr/bin/jq"))
	return os.WriteFile(filepath.Join(dir, "jq"), []byte(script), 0o755)
}

// The unpacked jq works, also on a machine that has one.
func TestUnpackedJQ(t *testing.T) {
	dir := t.TempDir()
	err := unpackJQ(t.Context(), dir)
	if errors.Is(err, debian.ErrMissing) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(dir, "jq"), "-r", ".[].id")
	cmd.Stdin = strings.NewReader(`[{"id": "one"}, {"id": "two"}]`)
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "one\ntwo\n" {
		t.Errorf("%q, %v", out, err)
	}
}
