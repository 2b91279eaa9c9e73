package packages

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/internal/cli"
)

// What a release publishes does not depend on where, when and by whom it is built, and each file is what it should be.
func TestPackages(t *testing.T) {
	needNamespaces(t)
	base := t.TempDir()
	first := build(t, filepath.Join(base, "a"), "022")
	m := newMachine(t, first.dir)
	m.storeSession(t)
	t.Run("bytes", func(t *testing.T) { sameBytes(t, first, build(t, filepath.Join(base, "another directory"), "077")) })
	t.Run("checksums", func(t *testing.T) { checksums(t, first) })
	t.Run("archives", func(t *testing.T) { archives(t, first) })
	t.Run("formula", func(t *testing.T) { formula(t, first, m) })
	t.Run("manual", func(t *testing.T) { manual(t, first, m) })
	for name, p := range map[string]format{
		"deb": {
			install: "dpkg -i /mnt/" + filepath.Base(first.only(t, ".deb")), verify: "dpkg --verify agentctl", remove: "dpkg -P agentctl",
			own: []string{"/usr/share/zsh/vendor-completions/_agentctl", "/usr/share/doc/agentctl/copyright"},
		},
		"rpm": {
			install: "rpm --dbpath /var/lib/rpm -i /mnt/" + filepath.Base(first.only(t, ".rpm")), verify: "rpm --dbpath /var/lib/rpm -V agentctl", remove: "rpm --dbpath /var/lib/rpm -e agentctl",
			own: []string{"/usr/share/zsh/site-functions/_agentctl", "/usr/share/licenses/agentctl/LICENSE"},
		},
	} {
		t.Run(name, func(t *testing.T) { p.works(t, m) })
	}
}

func sameBytes(t *testing.T, a, b release) {
	if !slices.Equal(a.files, b.files) {
		t.Fatalf("one build has %q\nthe other one %q", a.files, b.files)
	}
	for _, name := range a.files {
		if one, other := read(t, filepath.Join(a.dir, name)), read(t, filepath.Join(b.dir, name)); one != other {
			t.Errorf("%s differs: %d and %d bytes", name, len(one), len(other))
		}
	}
}

// checksums.txt has each package of the release.
func checksums(t *testing.T, r release) {
	for _, suffix := range []string{".deb", ".rpm", ".tar.gz", ".cdx.json"} {
		r.only(t, suffix)
	}
	for line := range strings.Lines(read(t, filepath.Join(r.dir, "checksums.txt"))) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if got := fmt.Sprintf("%x", sha256.Sum256([]byte(read(t, filepath.Join(r.dir, name))))); got != sum {
			t.Errorf("%s: %s, want %s", name, got, sum)
		}
	}
}

func formula(t *testing.T, r release, m machine) {
	if out := m.sh(t, "ruby3.1 -wc /mnt/homebrew/agentctl.rb"); out != "Syntax OK\n" {
		t.Errorf("%s", out)
	}
	text := read(t, filepath.Join(r.dir, "homebrew/agentctl.rb"))
	for _, name := range r.files {
		if !strings.HasSuffix(name, ".tar.gz") {
			continue
		}
		for _, want := range []string{
			"/" + name + `"`,
			fmt.Sprintf(`sha256 "%x"`, sha256.Sum256([]byte(read(t, filepath.Join(r.dir, name))))),
		} {
			if !strings.Contains(text, want) {
				t.Errorf("no %s in the formula:\n%s", want, text)
			}
		}
	}
}

// pages are the names of the pages of the manual: agentctl.1, agentctl-list.1, …
func pages(t *testing.T) []string {
	t.Helper()
	f := cli.NewEnv("")
	out := []string{"agentctl.1"}
	for _, c := range cli.Leaves(cli.NewApp(f, cli.Verbs()).Commands) {
		out = append(out, "agentctl-"+strings.ReplaceAll(cli.CommandName(c), " ", "-")+".1")
	}
	slices.Sort(out)
	return out
}

// Each page is without an error that mandoc finds.
func manual(t *testing.T, r release, m machine) {
	dir := filepath.Join(m.home, "pages")
	check(t, os.Mkdir(dir, 0o755))
	for _, name := range pages(t) {
		packed, err := gzip.NewReader(strings.NewReader(read(t, filepath.Join(r.dir, "../files/man", name+".gz"))))
		check(t, err)
		text, err := io.ReadAll(packed)
		check(t, err)
		check(t, os.WriteFile(filepath.Join(dir, name), text, 0o644))
	}
	// A page with a fault shows that faults are found.
	check(t, os.WriteFile(filepath.Join(dir, "x.1"), bytes.Repeat([]byte(".XX y\n"), 2), 0o644))
	out := m.sh(t, "mandoc -T lint -W error /root/pages/agentctl*.1; ! mandoc -T lint -W error /root/pages/x.1 >/dev/null")
	if out != "" {
		t.Errorf("mandoc -T lint -W error:\n%s", out)
	}
}
