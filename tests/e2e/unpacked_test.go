package e2e_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"agentctl/tests/debian"
)

// unpackedPackages returns the packages of Debian whose first program scripts run: those of the documents' commands, and the multiplexers.
func unpackedPackages() map[string]debian.Package {
	return map[string]debian.Package{
		"fzf":      {Name: "fzf", Version: "0.38.0", Files: []string{"usr/bin/fzf"}},
		"jq":       {Name: "jq", Version: "1.6", Files: []string{"usr/bin/jq"}},
		"screen":   {Name: "screen", Version: "4.9.0", Files: []string{"usr/bin/screen"}},
		"starship": {Name: "starship", Version: "1.22.1", Release: "trixie", Files: []string{"usr/bin/starship"}},
		"systemd":  {Name: "systemd", Version: "252.39", Files: []string{"usr/bin/systemd-analyze", "usr/lib/systemd/user"}},
		"tmux":     debian.Tmux(),
		"zsh":      {Name: "zsh", Version: "5.9", Files: []string{"bin/zsh"}},
	}
}

// addJQ puts a jq into a directory of PATH if the machine has none. A machine that is not Debian's skips the test then; a CI run fails.
func addJQ(t *testing.T, dir string) {
	t.Helper()
	if _, err := exec.LookPath("jq"); err == nil {
		return
	}
	_, err := unpack(t.Context(), "jq", dir)
	switch {
	case debian.MayBeMissing(err):
		t.Skipf("the documents' commands need jq: %v", err)
	case err != nil:
		t.Fatal(err)
	}
}

// unpack writes a script with the name of a package into a directory, which runs the package's program with its own libraries.
func unpack(ctx context.Context, name, dir string) (debian.Root, error) {
	p := unpackedPackages()[name]
	root, err := debian.Ensure(ctx, p)
	if err != nil {
		return "", err
	}
	return root, root.Script(filepath.Join(dir, name), p.Files[0])
}

// unpacks PACKAGE…: PATH has its program from then on, and $root_PACKAGE is where its files are.
func unpacks(ts *testscript.TestScript, names []string) {
	dir := filepath.Join(ts.Getenv("WORK"), "unpacked")
	ts.Check(os.MkdirAll(dir, 0o755))
	for _, name := range names {
		root, err := unpack(context.Background(), name, dir)
		ts.Check(err)
		ts.Setenv("root_"+name, string(root))
	}
	ts.Setenv("PATH", dir+string(os.PathListSeparator)+ts.Getenv("PATH"))
}

// unpackable reports whether this machine can have the packages.
func unpackable() bool {
	for _, p := range unpackedPackages() {
		if _, err := debian.Ensure(context.Background(), p); debian.MayBeMissing(err) {
			return false
		}
	}
	return true
}
