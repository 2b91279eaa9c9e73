// Package npm brings programs that tests need from npm into a folder of the user's cache, in a pinned version.
package npm

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/tests/cache"
	"agentctl/tests/extent"
)

// Need returns the path of a file of a package, by its path below node_modules ("prettier/index.mjs", ".bin/prettier"). It installs the
// package first unless it is in the cache, for which it needs npm and the network, and fails the test if it cannot. It runs no script of the
// package. $AGENTCTL_TEST_NPM names another folder than the one in the user's cache.
func Need(t testing.TB, name, version, file string) string {
	t.Helper()
	if extent.Hermetic() {
		t.Skipf("%s comes from npm", name)
	}
	root, err := cache.Root("AGENTCTL_TEST_NPM", "npm")
	if err != nil {
		t.Fatal(err)
	}
	entry := strings.ReplaceAll(strings.TrimPrefix(name, "@"), "/", "-") + "-" + version
	path := filepath.Join("node_modules", file)
	check := func(dir string) error {
		_, err := os.Stat(filepath.Join(dir, path))
		return err
	}
	err = cache.Make(root, entry, check, func(dir string) error {
		cmd := exec.CommandContext(t.Context(), "npm", "install", "--prefix", dir, "--ignore-scripts", "--no-audit", "--no-fund", name+"@"+version)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
		return nil
	})
	if err != nil {
		t.Fatalf("%v; npm and the network are needed once, or a folder with %s in $AGENTCTL_TEST_NPM", err, entry)
	}
	return filepath.Join(root, entry, path)
}
