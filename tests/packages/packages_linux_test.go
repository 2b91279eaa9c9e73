package packages

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/internal/cli"
	"agentctl/tests/debian"
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
	for _, c := range cli.Leaves(cli.NewApp(f).Commands) {
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

// machine is a fresh Debian: root directories, process tables and networks that hold nothing else. Each command gets one.
type machine struct {
	system debian.Root
	// packages are at /mnt, home is /root. They are shared by the machine's commands.
	packages, home string
}

// newMachine makes a machine. The first time, it fetches the packages of Debian that the tests use.
func newMachine(t *testing.T, packages string) machine {
	t.Helper()
	system, err := debian.System(t.Context(),
		debian.Package{Name: "bash", Version: "5.2.15", Files: []string{"bin/bash", "etc/skel/.bashrc"}},
		debian.Package{Name: "bash-completion", Version: "2.11", Files: []string{"usr/share/bash-completion/bash_completion"}},
		debian.Package{Name: "coreutils", Version: "9.1", Files: []string{"bin/cat"}},
		debian.Package{Name: "dash", Version: "0.5.12", Files: []string{"bin/sh"}},
		debian.Package{Name: "diffutils", Version: "3.8", Files: []string{"usr/bin/diff"}},
		debian.Package{Name: "dpkg", Version: "1.21.23", Files: []string{"usr/bin/dpkg"}},
		debian.Package{Name: "findutils", Version: "4.9.0", Files: []string{"usr/bin/find"}},
		debian.Package{Name: "fish", Version: "3.6.0", Files: []string{"usr/bin/fish"}},
		debian.Package{Name: "grep", Version: "3.8", Files: []string{"bin/grep"}},
		debian.Package{Name: "libc-bin", Version: "2.36", Files: []string{"usr/lib/locale/C.utf8"}},
		debian.Package{Name: "man-db", Version: "2.11.2", Files: []string{"usr/bin/man"}},
		debian.Package{Name: "mandoc", Version: "1.14.6", Files: []string{"usr/bin/mandoc"}},
		debian.Package{Name: "ncurses-base", Version: "6.4", Files: []string{"lib/terminfo/x/xterm-256color"}},
		debian.Package{Name: "rpm", Version: "4.18.0+dfsg", Files: []string{"usr/bin/rpm"}},
		debian.Package{Name: "ruby", Version: "3.1", Files: []string{"usr/bin/ruby3.1"}},
		debian.Package{Name: "sed", Version: "4.9", Files: []string{"bin/sed"}},
		debian.Package{Name: "zsh", Version: "5.9", Files: []string{"bin/zsh"}},
	)
	if err != nil {
		skip(t, err)
	}
	return machine{system: system, packages: packages, home: t.TempDir()}
}

// enter runs a command with a root directory: what it writes there is in memory, and the system below stays as it is.
const enter = `
system=$1 packages=$2 home=$3 dir=$4
shift 4
mount -t tmpfs tmpfs "$dir"
root=$dir/root
mkdir "$root" "$dir/upper" "$dir/work"
mount -t overlay overlay -o "lowerdir=$system,upperdir=$dir/upper,workdir=$dir/work" "$root"
mkdir -p "$root/mnt"
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
mount --bind "$packages" "$root/mnt"
mount --bind "$home" "$root/root"
exec chroot "$root" "$@"`

// command is a command on the machine, with a root directory of its own.
func (m machine) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	line := append(unshare("--net", "--mount", "--pid"), "sh", "-euc", enter, "sh", string(m.system), m.packages, m.home, t.TempDir())
	cmd := exec.Command(line[0], append(line[1:], args...)...)
	cmd.Env = []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=/root", "LANG=C.UTF-8", "TERM=xterm-256color", "TZ=UTC",
	}
	return cmd
}

// sh runs commands on the machine. The first one that fails ends them.
func (m machine) sh(t *testing.T, script string) string {
	t.Helper()
	return run(t, m.command(t, "sh", "-euc", script))
}

// sessionID is of the only session on the machine.
const sessionID = "cccccccc-0000-4000-8000-000000000000"

// storeSession puts a stopped session of Claude Code into the home.
func (m machine) storeSession(t *testing.T) {
	t.Helper()
	dir := filepath.Join(m.home, ".claude/projects/-srv")
	check(t, os.MkdirAll(dir, 0o755))
	check(t, os.WriteFile(filepath.Join(dir, sessionID+".jsonl"), []byte(`{"type":"user","uuid":"`+sessionID[:35]+`1","parentUuid":null,"sessionId":"`+
		sessionID+`","cwd":"/srv","timestamp":"`+time.Now().UTC().Format("2006-01-02T15:04:05.000Z")+`","version":"2.1.197","userType":"external","isSidechain":false,`+
		`"message":{"role":"user","content":"a stored prompt"}}`+"\n"), 0o644))
}

// format is a format of packages: how one is installed, verified and removed, and the files that only this format has.
type format struct {
	install, verify, remove string
	own                     []string
}

// files lists the files on the machine, and directories of agentctl, without the databases of package managers. Home is another file system.
const files = `find / -xdev ! -path '/var/*' '(' ! -type d -o -name '*agentctl*' ')' | sort`

// works installs the package, uses it, and removes it: agentctl runs, its pages are shown, and nothing of it is left.
func (f format) works(t *testing.T, m machine) {
	dir := filepath.Join(m.home, "files")
	check(t, os.RemoveAll(dir))
	check(t, os.Mkdir(dir, 0o755))
	log := m.sh(t, files+` >/root/files/before
`+f.install+`
`+f.verify+` >/root/files/verified
`+files+` >/root/files/installed
agentctl version >/root/files/version
agentctl list >/root/files/live
agentctl list -aq --since all >/root/files/all
export MANWIDTH=80
man agentctl-launch >/root/files/man-launch
`+f.remove+`
`+files+` >/root/files/after
test ! -e /usr/bin/agentctl`)
	file := func(name string) string { return read(t, filepath.Join(dir, name)) }
	if !regexp.MustCompile(`^agentctl v0\.0\.0-SNAPSHOT-[0-9a-f]+ \(commit [0-9a-f]+, go`).MatchString(file("version")) {
		t.Errorf("version: %q", file("version"))
	}
	if file("verified") != "" || file("live") != "" || file("all") != sessionID+"\n" {
		t.Errorf("verified: %q, live sessions: %q, all: %q", file("verified"), file("live"), file("all"))
	}
	page := file("man-launch")
	for _, want := range []string{
		"AGENTCTL-LAUNCH(1)", "\nNAME\n       agentctl-launch - start an agent", "\nSYNOPSIS\n       agentctl launch [AGENT] -p PROMPT",
		"\nOPTIONS\n", "\n       --cwd DIR\n", "\nEXAMPLES\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("agentctl-launch(1) has no %q:\n%s", want, page)
		}
	}
	want := append([]string{
		"/usr/bin/agentctl", "/usr/share/bash-completion/completions/agentctl", "/usr/share/fish/vendor_completions.d/agentctl.fish",
	}, f.own...)
	for _, name := range pages(t) {
		want = append(want, "/usr/share/man/man1/"+name+".gz")
	}
	directory := func(name string) bool { // in which a file of the package is
		return slices.ContainsFunc(want, func(w string) bool { return strings.HasPrefix(w, name+"/") })
	}
	before := strings.Split(file("before"), "\n")
	got := slices.DeleteFunc(without(strings.Split(file("installed"), "\n"), before), directory)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("installed: %q\nwant %q", got, want)
	}
	after := strings.Split(file("after"), "\n")
	if left, lost := without(after, before), without(before, after); len(left) > 0 || len(lost) > 0 {
		t.Errorf("left over: %q, lost: %q\n%s", left, lost, log)
	}
}

// without returns the sorted lines that others do not have.
func without(lines, others []string) []string {
	lines = slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return slices.Contains(others, line) })
	slices.Sort(lines)
	return lines
}
