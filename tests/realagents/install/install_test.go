package install

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// fakeNPM puts an npm first in PATH that makes the files of OpenCode's packages, and logs that it ran.
func fakeNPM(t *testing.T, size int) (root, log string) {
	t.Helper()
	root, bin := t.TempDir(), t.TempDir()
	log = filepath.Join(bin, "log")
	script := fmt.Sprintf(`#!/bin/sh
echo ran >> %q
mkdir -p node_modules/opencode-ai node_modules/opencode-%s/bin
echo '{"version":"9.9.9"}' > node_modules/opencode-ai/package.json
head -c %d /dev/zero > node_modules/opencode-%s/bin/opencode
chmod 755 node_modules/opencode-%s/bin/opencode
`, log, platform(), size, platform(), platform())
	if err := os.WriteFile(filepath.Join(bin, "npm"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AGENTCTL_TEST_AGENTS", root)
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	return root, log
}

func TestEnsureInstallsOnce(t *testing.T) {
	root, log := fakeNPM(t, smallest)
	r := Release{OpenCode, "9.9.9"}
	if _, err := Find(r); !errors.Is(err, ErrMissing) {
		t.Fatalf("before: %v, want %v", err, ErrMissing)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := Ensure(t.Context(), r); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	i, err := Find(r)
	if err != nil || i.Native != filepath.Join(root, "opencode-9.9.9", "node_modules", "opencode-"+platform(), "bin", "opencode") {
		t.Errorf("got %+v, %v", i, err)
	}
	if raw, _ := os.ReadFile(log); string(raw) != "ran\n" {
		t.Errorf("npm: %q, want one run", raw)
	}
}

func TestTornInstallationIsMadeAgain(t *testing.T) {
	root, _ := fakeNPM(t, smallest)
	r := Release{OpenCode, "9.9.9"}
	torn := filepath.Join(root, r.String(), "node_modules", "opencode-ai")
	if err := os.MkdirAll(torn, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Ensure(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(r); err != nil {
		t.Error(err)
	}
}

// What npm leaves as a placeholder, or at another version, is no installation.
func TestUnusableInstallationIsRefused(t *testing.T) {
	root, _ := fakeNPM(t, 100)
	for _, version := range []string{"9.9.9", "8.8.8"} {
		r := Release{OpenCode, version}
		if err := Ensure(t.Context(), r); err == nil {
			t.Errorf("%s was accepted", r)
		}
		if left, _ := filepath.Glob(filepath.Join(root, "[^.]*")); len(left) > 0 {
			t.Errorf("%s left %v", r, left)
		}
	}
}
