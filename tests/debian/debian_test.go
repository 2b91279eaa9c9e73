package debian

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// archive puts an apt-get and a dpkg first in PATH that know a package "tool" in version 1:2.0-3+b1 with a library, and log what they
// were asked.
func archive(t *testing.T) (log string) {
	t.Helper()
	bin := t.TempDir()
	log = filepath.Join(bin, "log")
	for name, script := range map[string]string{
		"apt-get": `#!/bin/sh
echo "$@" >> ` + log + `
case $1 in
indextargets) echo "http://x/debian-security/ old-security"; echo "http://x/debian/ old" ;;
install) echo "'http://x/tool' tool_1%3a2.0-3+b1_amd64.deb 5 SHA256:0"; echo "'http://x/lib' libtool1_7_amd64.deb 5 SHA256:0" ;;
download) touch tool.deb libtool1.deb ;;
esac
`,
		"dpkg": `#!/bin/sh
case $2 in
*/tool.deb) mkdir -p "$3/usr/bin"; touch "$3/usr/bin/tool" ;;
*/libtool1.deb) mkdir -p "$3/usr/lib/x"; touch "$3/usr/lib/x/libtool.so.1" ;;
esac
`,
	} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv("AGENTCTL_TEST_DEBIAN", t.TempDir())
	return log
}

func TestEnsureUnpacksOnce(t *testing.T) {
	log := archive(t)
	tool := Package{Name: "tool", Version: "2.0", Files: []string{"usr/bin/tool"}}
	if _, err := Find(tool); !errors.Is(err, ErrMissing) {
		t.Fatalf("before: %v, want %v", err, ErrMissing)
	}
	for range 2 {
		root, err := Ensure(t.Context(), tool)
		if err != nil {
			t.Fatal(err)
		}
		if root.Glob("usr/*/tool") != root.Path("usr/bin/tool") {
			t.Errorf("%s", root.Glob("usr/*/tool"))
		}
		want := []string{"A=b", "PATH=" + root.Path("usr/bin") + ":" + root.Path("bin") + ":" + root.Path("usr/sbin") + ":" + root.Path("sbin") + ":/bin", "LD_LIBRARY_PATH=" + root.Path("usr/lib/x")}
		if got := root.Environ([]string{"A=b", "PATH=/bin"}); !slices.Equal(got, want) {
			t.Errorf("environment %q\nwant %q", got, want)
		}
	}
	raw, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(raw); strings.Count(got, "\n") != 2 || !strings.HasSuffix(got, " tool:amd64=1:2.0-3+b1 libtool1:amd64=7\n") {
		t.Errorf("apt-get was asked %q", got)
	}
}

func TestSystem(t *testing.T) {
	log := archive(t)
	tool := Package{Name: "tool", Version: "2.0", Files: []string{"usr/bin/tool"}}
	var roots []Root
	for range 2 {
		root, err := System(t.Context(), tool)
		if err != nil {
			t.Fatal(err)
		}
		roots = append(roots, root)
		for _, name := range []string{"usr/lib/x/libtool.so.1", "var/lib/dpkg/status", "etc/passwd", "proc"} {
			if _, err := os.Stat(root.Path(name)); err != nil {
				t.Error(err)
			}
		}
	}
	raw, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(raw); roots[0] != roots[1] || strings.Count(got, "\n") != 2 || !strings.Contains(got, " -o Dir::State::status=/dev/null tool\n") {
		t.Errorf("%q; apt-get was asked %q", roots, got)
	}
	if _, err := System(t.Context(), tool, Package{Name: "libtool1", Version: "8"}); !errors.Is(err, ErrMissing) {
		t.Errorf("%v", err)
	}
}

// A package of another release comes from the machine's archive, with lists of its own, which are not kept.
func TestAnotherRelease(t *testing.T) {
	log := archive(t)
	root, err := Ensure(t.Context(), Package{Name: "tool", Version: "2.0", Release: "new", Files: []string{"usr/bin/tool"}})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	asked := strings.Split(string(raw), "\n")
	for i, verb := range []string{"indextargets", "update", "install", "download"} {
		if !strings.HasPrefix(asked[i], verb+" ") || i > 0 && !strings.Contains(asked[i], "Dir::State::status=/dev/null -o Dir::Etc::sourcelist=") {
			t.Errorf("%d: apt-get was asked %q, want %s", i, asked[i], verb)
		}
	}
	if left := root.Glob(".*"); !strings.HasSuffix(string(root), "tool-2.0-new") || left != "" {
		t.Errorf("%s has %s", root, left)
	}
}

func TestAnotherVersionIsRefused(t *testing.T) {
	archive(t)
	_, err := Ensure(t.Context(), Package{Name: "tool", Version: "3.0", Files: []string{"usr/bin/tool"}})
	if !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), `the archive has tool in version ["2.0"], the tests need 3.0`) {
		t.Errorf("%v", err)
	}
}
