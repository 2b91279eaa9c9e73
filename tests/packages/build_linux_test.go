package packages

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"agentctl/tests/extent"
)

// release is what tests/release made: a folder, and the names of the files in it that are published.
type release struct {
	dir   string
	files []string
}

// native are the patterns of files that are for this machine: Go's name of the architecture, and the one of packages.
func native() string {
	return map[string]string{"amd64": `_amd64[._]|x86_64`, "arm64": `_arm64[._]|aarch64`}[runtime.GOARCH]
}

// only returns the path of the only file for this machine whose name ends with a suffix.
func (r release) only(t *testing.T, suffix string) string {
	t.Helper()
	var found []string
	for _, name := range r.files {
		if strings.HasSuffix(name, suffix) && !strings.Contains(name, "darwin") && regexp.MustCompile(native()).MatchString(name) {
			found = append(found, filepath.Join(r.dir, name))
		}
	}
	if len(found) != 1 {
		t.Fatalf("files that end with %q: %q; all files: %q", suffix, found, r.files)
	}
	return found[0]
}

// build runs tests/release without a network in a copy of the source, which is a repository with one commit. The umask is that of the
// user who builds.
func build(t *testing.T, source, umask string) release {
	t.Helper()
	copySource(t, source)
	config := filepath.Join(source, ".goreleaser.yaml")
	const all = "    targets: [linux_amd64_v1, linux_arm64, darwin_amd64_v1, darwin_arm64]\n"
	text := read(t, config)
	if !strings.Contains(text, all) {
		t.Fatalf("%s has no line %q", config, all)
	}
	if !extent.All() {
		targets := map[string]string{"amd64": "linux_amd64_v1", "arm64": "linux_arm64"}
		text = strings.Replace(text, all, "    targets: ["+targets[runtime.GOARCH]+"]\n", 1)
	}
	check(t, os.WriteFile(config, []byte(text), 0o644))
	script := `
umask ` + umask + `
git init -q -b main
git add -A
git -c user.name=t -c user.email=t@localhost commit -q -m release
(. tests/tools.env && . tests/tool.sh && tool "$GORELEASER" && tool "$CYCLONEDX_GOMOD") >/dev/null
exec ` + strings.Join(unshare("--net"), " ") + ` tests/release`
	cmd := exec.Command("bash", "-ec", script)
	cmd.Dir = source
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_DATE=1700000000 +0000", "GIT_COMMITTER_DATE=1700000000 +0000")
	run(t, cmd)
	r := release{dir: filepath.Join(source, "dist/packages")}
	for line := range strings.Lines(read(t, filepath.Join(r.dir, "checksums.txt"))) {
		_, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		r.files = append(r.files, name)
	}
	r.files = append(r.files, "checksums.txt", "homebrew/agentctl.rb")
	slices.Sort(r.files)
	return r
}

// copySource copies the module's folder, without what git and earlier releases keep in it. Times are not copied.
func copySource(t *testing.T, to string) {
	t.Helper()
	check(t, os.Mkdir(to, 0o755))
	entries, err := os.ReadDir("../..")
	check(t, err)
	args := []string{"-R", "-P"}
	for _, e := range entries {
		if e.Name() != ".git" && e.Name() != "dist" {
			args = append(args, e.Name())
		}
	}
	cmd := exec.Command("cp", append(args, to)...)
	cmd.Dir = "../.."
	run(t, cmd)
}

// unshare is the command line that runs a command in new namespaces, as root of them.
func unshare(namespaces ...string) []string {
	line := append([]string{"unshare", "--kill-child", "--fork"}, namespaces...)
	if os.Geteuid() != 0 {
		line = append(line, "--map-root-user")
	}
	return line
}

// needNamespaces skips a test on a machine that allows no namespaces. In continuous integration that is a failure.
func needNamespaces(t *testing.T) {
	t.Helper()
	line := append(unshare("--net", "--mount", "--pid"), "true")
	out, err := exec.Command(line[0], line[1:]...).CombinedOutput()
	if err != nil {
		skip(t, fmt.Errorf("%q: %w\n%s", line, err, out))
	}
}

func skip(t *testing.T, err error) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(err)
	}
	t.Skip(err)
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	check(t, err)
	return string(text)
}

// run runs a command, and returns what it printed on both streams.
func run(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return string(out)
}
