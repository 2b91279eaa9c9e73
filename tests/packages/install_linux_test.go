package packages

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

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
