package install

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// fakeNPM puts an npm first in PATH that makes OpenCode's program in a place below node_modules, as its install script does, and logs
// how it ran.
func fakeNPM(t *testing.T, size int, place string) (root, log string) {
	t.Helper()
	root, bin := t.TempDir(), t.TempDir()
	log = filepath.Join(bin, "log")
	script := fmt.Sprintf(`#!/bin/sh
echo "$@" >> %q
mkdir -p node_modules/opencode-ai/bin node_modules/.bin $(dirname node_modules/%s)
echo '{"version":"9.9.9"}' > node_modules/opencode-ai/package.json
head -c %d /dev/zero > node_modules/%s
chmod 755 node_modules/%s
case %s in
*.exe) ln -s ../opencode-ai/bin/opencode.exe node_modules/.bin/opencode ;;
*) touch node_modules/opencode-ai/bin/opencode; ln -s ../opencode-ai/bin/opencode node_modules/.bin/opencode ;;
esac
`, log, place, size, place, place, place)
	if err := os.WriteFile(filepath.Join(bin, "npm"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("AGENTCTL_TEST_AGENTS", root)
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	return root, log
}

const direct = "opencode-ai/bin/opencode.exe"

func TestEnsureInstallsOnce(t *testing.T) {
	root, log := fakeNPM(t, smallest, direct)
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
	if err != nil || i.Native != filepath.Join(root, "opencode-9.9.9", "node_modules", ".bin", "opencode") || i.Shim != nil {
		t.Errorf("got %+v, %v", i, err)
	}
	if raw, _ := os.ReadFile(log); strings.Count(string(raw), "\n") != 1 || !strings.Contains(string(raw), "--ignore-scripts=false") {
		t.Errorf("npm: %q, want one run, with scripts", raw)
	}
}

// Behind npm's launcher, the program is what the install script has put beside it.
func TestLauncher(t *testing.T) {
	root, _ := fakeNPM(t, smallest, "opencode-ai/bin/.opencode")
	r := Release{OpenCode, "9.9.9"}
	if err := Ensure(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	modules := filepath.Join(root, r.String(), "node_modules")
	i, err := Find(r)
	if err != nil || i.Native != filepath.Join(modules, "opencode-ai", "bin", ".opencode") || !slices.Equal(i.Shim, []string{filepath.Join(modules, ".bin", "opencode")}) {
		t.Errorf("%+v, %v", i, err)
	}
}

func TestTornInstallationIsMadeAgain(t *testing.T) {
	root, _ := fakeNPM(t, smallest, direct)
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
	root, _ := fakeNPM(t, 100, direct)
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
