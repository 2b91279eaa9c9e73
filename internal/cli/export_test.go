package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/proc"
	"agentctl/tests/must"
)

// exported runs a command line and returns what it prints and how it ends.
func exported(t *testing.T, env Env, out *Output, args ...string) (stdout, stderr string, exit int) {
	t.Helper()
	out.Stdout.Reset()
	out.Stderr.Reset()
	exit = Run(t.Context(), env, append([]string{"export"}, args...)...)
	return out.Stdout.String(), out.Stderr.String(), exit
}

func TestJSON(t *testing.T) {
	f, out := WithMessages(t)
	stdout, stderr, exit := exported(t, f, out, "aaaaaaaa-2", "--json", "--children")
	CheckSchema(t, "export", stdout)
	if stderr != "" || exit != 0 || strings.Count(stdout, `{"session":{`) != 3 || !strings.Contains(stdout, "\"messages\":[\n{\"id\":\"a\",") {
		t.Errorf("exit %d\n%s%s", exit, stdout, stderr)
	}
	stdout, _, _ = exported(t, f, out, "dddddddd", "--as", "json", "--tools", "brief")
	CheckSchema(t, "export", stdout)
	if !strings.Contains(stdout, `"tool":{"id":"y","name":"Bash","brief":"sleep 9","state":"cut"}`) {
		t.Error(stdout)
	}
	stdout, _, _ = exported(t, f, out, "dddddddd", "aaaaaaaa-2", "dddddddd", "--json")
	if lines := strings.Split(strings.TrimSpace(stdout), "\n"); len(lines) != 2 {
		t.Errorf("%d lines for two sessions:\n%s", len(lines), stdout)
	} else {
		CheckSchema(t, "export", lines[0])
		CheckSchema(t, "export", lines[1])
	}
	stdout, stderr, exit = exported(t, f, out, "cccccccc@/w/a", "--json")
	CheckSchema(t, "export", stdout)
	if exit != 0 || !strings.Contains(stderr, "cccccccc has no messages") {
		t.Errorf("exit %d\n%s%s", exit, stdout, stderr)
	}
}

// Each session of a circle of parents is in the export once, the one that was asked for at the top.
func TestCircleOfParents(t *testing.T) {
	for name, parents := range map[string]map[string]string{
		"two sessions": {"aaaaaaaa-2": "eeeeeeee-1"}, "its own parent": {"aaaaaaaa-2": "aaaaaaaa-2"},
	} {
		f, out := WithMessages(t)
		records := f.Adapters[1].(Stub).Records
		for i, r := range records {
			if parent, ok := parents[r.ID]; ok {
				records[i].Parent = parent
			}
		}
		stdout, stderr, exit := exported(t, f, out, "aaaaaaaa-2", "--children")
		if exit != 0 || !strings.HasPrefix(stdout, "# title of aaaaaaaa-2\n") || strings.Count(stdout, "title of aaaaaaaa-2") != 1 || strings.Count(stdout, "title of eeeeeeee-1") != 1 {
			t.Errorf("%s: exit %d\n%s%s", name, exit, stdout, stderr)
		}
	}
}

// What exceeds the limit of an export is left out, and that is said.
func TestLargeExports(t *testing.T) {
	f, out := WithMessages(t)
	s := f.Adapters[1].(Stub)
	large := Pending("l", "cat", time.Minute)
	large.Tool.Output = strings.Repeat("x", 97<<20)
	old, last := Text("o", discover.RoleUser, "old", time.Hour), Text("n", discover.RoleUser, "new", time.Minute)
	s.Transcripts["dddddddd"] = []discover.Message{old, large, last}
	f.Adapters[1] = s
	stdout, stderr, exit := exported(t, f, out, "dddddddd", "aaaaaaaa-2", "--tools=none")
	if exit != ExitPartial || !strings.Contains(stdout, "> new") || strings.Contains(stdout, "> old") {
		t.Errorf("exit %d\n%s%s", exit, stdout, stderr)
	}
	for _, want := range []string{"messages before the newest 96 MB are left out", "its messages are left out: the export has 96 MB already"} {
		if !strings.Contains(stdout, want) || !strings.Contains(stderr, want) {
			t.Errorf("%q is not said:\n%s%s", want, stdout, stderr)
		}
	}
}

// -o does not write what is not a regular file, or below an agent's home, by whatever name.
func TestRefusedFiles(t *testing.T) {
	f, out := WithMessages(t)
	dir := t.TempDir()
	home := filepath.Join(dir, "home")
	s := f.Adapters[0].(Stub)
	s.HomeList[0].Dir = home
	f.Adapters[0] = s
	must.Do(t, os.MkdirAll(filepath.Join(home, "sub"), 0o755))
	must.Do(t, os.Symlink(filepath.Join(home, "sub"), filepath.Join(dir, "link")))
	for _, file := range []string{dir, "/dev/null", home + "/x.md", home + "/sub/x.md", dir + "/link/x.md", dir + "/none/x.md"} {
		if _, stderr, exit := exported(t, f, out, "dddddddd", "-o", file); exit != ExitUsage {
			t.Errorf("%s: exit %d\n%s", file, exit, stderr)
		}
	}
	for _, file := range []string{home + "/x", dir + "/link/x"} { // the other commands that write a file
		for _, args := range [][]string{{"metrics"}, {"launch", "claude-code", "-p", "x"}, {"resume", "dddddddd", "x"}} {
			out.Stderr.Reset()
			if exit := Run(t.Context(), f, append(args, "--output", file)...); exit != ExitUsage || !strings.Contains(out.Stderr.String(), "where an agent stores its sessions") {
				t.Errorf("%v %s: exit %d\n%s", args, file, exit, out.Stderr.String())
			}
		}
	}
	if entries, _ := os.ReadDir(filepath.Join(home, "sub")); len(entries) > 0 {
		t.Errorf("written: %v", entries)
	}
}

// Where the process table cannot be read, as in a sandbox, -o writes what stdout would have.
func TestExportWithoutProcesses(t *testing.T) {
	f, out := WithMessages(t)
	f.ReadTable = func(context.Context, bool) (*proc.Table, error) { return nil, errors.New("no /proc") }
	file := filepath.Join(t.TempDir(), "x.md")
	if _, stderr, exit := exported(t, f, out, "dddddddd", "-o", file); exit != ExitPartial || !strings.Contains(stderr, "no /proc") {
		t.Errorf("exit %d\n%s", exit, stderr)
	}
	if text, err := os.ReadFile(file); len(text) == 0 {
		t.Errorf("%q, %v", text, err)
	}
}

// A file below a current directory that was deleted has no place; the error says why.
func TestExportWithoutDirectory(t *testing.T) {
	f, out := WithMessages(t)
	dir := t.TempDir()
	t.Chdir(dir)
	must.Do(t, os.Remove(dir))
	if _, stderr, exit := exported(t, f, out, "dddddddd", "-o", "x.md"); exit == 0 || !strings.Contains(stderr, "the current directory was deleted") {
		t.Errorf("exit %d\n%s", exit, stderr)
	}
}

// Secrets are redacted wherever they stand: in texts, tool calls, titles and prompts.
func TestRedaction(t *testing.T) {
	secret := "ghp_" + strings.Repeat("aB3dE6gH", 5)
	f, out := WithMessages(t)
	s := f.Adapters[1].(Stub)
	for i := range s.Records {
		s.Records[i].Title, s.Records[i].Prompt = "title "+secret, "prompt "+secret
		s.Records[i].Meta = s.Records[i].Meta.With("note", secret)
	}
	call := Pending("y", "use "+secret, time.Minute)
	call.Tool.State, call.Tool.Output = discover.ToolDone, "it is\n"+secret
	s.Transcripts["dddddddd"] = []discover.Message{Text("x", discover.RoleUser, "take "+secret, time.Minute), call}
	f.Adapters[1] = s
	for _, format := range ExportFormats() {
		stdout, stderr, exit := exported(t, f, out, "dddddddd", "--as", format, "--tools", "full")
		if strings.Contains(stdout, secret) || exit != 0 || stderr != "" {
			t.Errorf("%s: exit %d\n%s%s", format, exit, stdout, stderr)
		}
		for _, want := range []string{"title", "take", "use", "it is"} {
			if !regexp.MustCompile(want + `(\\n|\s)\\?\[redacted\\?\]`).MatchString(stdout) {
				t.Errorf("%s has no redacted %s:\n%s", format, want, stdout)
			}
		}
		if stdout, _, _ = exported(t, f, out, "dddddddd", "--as", format, "--no-redact"); !strings.Contains(strings.ReplaceAll(stdout, "\\", ""), "take "+secret) {
			t.Errorf("%s with --no-redact:\n%s", format, stdout)
		}
	}
}
