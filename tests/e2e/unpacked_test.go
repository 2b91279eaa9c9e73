package e2e_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"agentctl/tests/cache"
	"agentctl/tests/debian"
	"agentctl/tests/extent"
)

// unpackedPackages returns the packages of Debian whose first program scripts run: those of the documents' commands, and the multiplexers.
func unpackedPackages() map[string]debian.Package {
	return map[string]debian.Package{
		"fzf": {Name: "fzf", Version: "0.38.0", Files: []string{"usr/bin/fzf"}},
		"jq":  {Name: "jq", Version: "1.6", Files: []string{"usr/bin/jq"}},
		// Debian's stable release of it, which knows the short names of stages only
		"pre-commit": {Name: "pre-commit", Version: "3.0.4", Files: []string{"usr/bin/pre-commit"}},
		"screen":     {Name: "screen", Version: "4.9.0", Files: []string{"usr/bin/screen"}},
		"starship":   {Name: "starship", Version: "1.22.1", Release: "trixie", Files: []string{"usr/bin/starship"}},
		"systemd":    {Name: "systemd", Version: "252.39", Files: []string{"usr/bin/systemd-analyze", "usr/lib/systemd/user"}},
		"tmux":       debian.Tmux(),
		"zsh":        {Name: "zsh", Version: "5.9", Files: []string{"bin/zsh"}},
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

// installs NAME@VERSION: PATH has the program of a package from npm, which is installed into the user's cache; none of its scripts is run.
func installs(ts *testscript.TestScript, args []string) {
	root, err := cache.Root("AGENTCTL_TEST_NPM", "npm")
	ts.Check(err)
	name, _, _ := strings.Cut(args[0], "@")
	entry := strings.ReplaceAll(args[0], "@", "-")
	check := func(dir string) error {
		_, err := os.Stat(filepath.Join(dir, "node_modules/.bin", name))
		return err
	}
	ts.Check(cache.Make(root, entry, check, func(dir string) error {
		cmd := exec.Command("npm", "install", "--prefix", dir, "--ignore-scripts", "--no-audit", "--no-fund", args[0])
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
		return nil
	}))
	ts.Setenv("PATH", filepath.Join(root, entry, "node_modules/.bin")+":"+ts.Getenv("PATH"))
}

// installable reports whether packages can be had from npm: not where nothing may come from elsewhere. Continuous integration has npm.
func installable() bool {
	_, err := exec.LookPath("npm")
	return !extent.Hermetic() && (err == nil || os.Getenv("CI") == "true")
}
