package list_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/internal/cmd"
	"agentctl/internal/output"
	"agentctl/proc"
	"agentctl/tests/cmdtest"
)

// A table that is longer than the terminal goes through the pager.
func TestLongListIsPaged(t *testing.T) {
	for args, want := range map[string]bool{
		"list -a --since all": true, "list -a --wide": true, "list": false, "list -a --no-pager": false, "list -a -q": false, "list -a --json": false,
	} {
		f, out := cmdtest.New(t)
		f.Width, f.Height, f.Environ = 80, 4, []string{"PATH=/usr/bin:/bin", "PAGER=sed 's/^/paged /'"}
		if got := cmd.Run(t.Context(), f, strings.Fields(args)...); got != 0 || strings.HasPrefix(out.Stdout.String(), "paged ID") != want {
			t.Errorf("%s: exit %d\n%s%s", args, got, out.Stdout.String(), out.Stderr.String())
		}
	}
}

// In the table the sessions that wait for the user come first, and -n keeps them; other output keeps the order of activity.
func TestListWaitingFirst(t *testing.T) {
	for args, want := range map[string]int{
		"list -a": 1, "list -a --wide": 1, "list -a -q": 2, "list -n 1": 1, "list -a -n 1": 1, "list -n 1 --wide": 1, "list -n 1 -q": 2, "list -n 1 --json": 2,
	} {
		f, out := cmdtest.New(t)
		codex := f.Adapters[1].(cmdtest.Stub)
		codex.Records[0].Turn, codex.Records[0].Updated = discover.Turn{State: discover.TurnWaiting, WaitingFor: "question"}, cmdtest.Now().Add(-90*time.Minute)
		cmd.Run(t.Context(), f, strings.Fields(args)...)
		lines := strings.Split(out.Stdout.String(), "\n")
		if want == 1 != strings.HasPrefix(lines[1], "aaaaaaaa-1 ") {
			t.Errorf("%s:\n%s", args, out.Stdout.String())
		}
	}
}

func TestWatchNeedsATerminal(t *testing.T) {
	for args, want := range map[string]string{
		"list --watch": "--watch needs a terminal", "list -w --json": "--watch and --json cannot be used together",
		"list -aw -q": "--watch and --quiet cannot be used together", "ls --watch --orphans": "--watch and --orphans cannot be used together",
	} {
		f, out := cmdtest.New(t)
		f.Terminal = true // but it is no file
		if got := cmd.Run(t.Context(), f, strings.Fields(args)...); got != 2 || !strings.Contains(out.Stderr.String(), want) {
			t.Errorf("%s: exit %d, %s", args, got, out.Stderr.String())
		}
	}
}

// list --wide has it for every row, and is no form of its own.
func TestListWide(t *testing.T) {
	f, out := cmdtest.New(t)
	f = cmdtest.WithChildren(f)
	if got := cmd.Run(t.Context(), f, "list", "--wide", "--json"); got != 0 {
		t.Fatalf("exit %d: %s", got, out.Stderr.String())
	}
	cmdtest.CheckSchema(t, "sessions", out.Stdout.String())
	var list []output.Session
	if err := json.Unmarshal(out.Stdout.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	trees := map[string]int{}
	for _, s := range list {
		if s.ID != nil {
			trees[*s.ID] = len(s.Processes)
		}
	}
	if trees["aaaaaaaa-1"] != 5 || trees["aaaaaaaa-2"] != 1 || len(list) != 3 {
		t.Errorf("%v", out.Stdout.String())
	}
	out.Stdout.Reset()
	if got := cmd.Run(t.Context(), f, "list", "--wide"); got != 0 || !strings.Contains(out.Stdout.String(), "    1m  1m30s  4.0 MiB  3000 ") {
		t.Errorf("exit %d:\n%s", got, out.Stdout.String())
	}
	for _, form := range []string{"-q", "--format={{.id}}"} {
		if got := cmd.Run(t.Context(), f, "list", "--wide", form); got != 2 {
			t.Errorf("%s: exit %d", form, got)
		}
	}
	out.Stdout.Reset()
	if got := cmd.Run(t.Context(), f, "list", "--wide", "--group", "none", "--json"); got != 0 || out.Stdout.String() != "[]\n" {
		t.Errorf("exit %d: %q", got, out.Stdout.String())
	}
}

// Git is run where it has an answer only: in no directory without a repository, for no list but the wide one, and not to
// know whether a session lives, or what is in a container's directory.
func TestGitRunsOnDemand(t *testing.T) {
	f, out := cmdtest.New(t)
	codex := f.Adapters[1].(cmdtest.Stub)
	bin, repo := t.TempDir(), codex.Records[0].Dir
	ran := bin + "/ran"
	if err := os.WriteFile(bin+"/git", []byte("#!/bin/sh\necho >>"+ran+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	f.Environ = []string{"PATH=" + bin}
	runs := func(args string) bool {
		out.Stdout.Reset()
		if got := cmd.Run(t.Context(), f, strings.Fields(args)...); got != 0 {
			t.Fatalf("%s: exit %d: %s", args, got, out.Stderr.String())
		}
		_, err := os.Stat(ran)
		_ = os.Remove(ran)
		return err == nil
	}
	for _, args := range []string{"status aaaaaaaa-1", "list --wide"} {
		if runs(args) {
			t.Errorf("%s asks git outside of a repository", args)
		}
	}
	if err := errors.Join(os.Mkdir(repo+"/.git", 0o700), os.WriteFile(repo+"/.git/HEAD", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]bool{
		"status aaaaaaaa-1": true, "status aaaaaaaa-1 --json": true, "list --wide": true, "list --wide --json": true,
		"status aaaaaaaa-1 --alive": false, "list": false, "list -a --json --tokens": false, "status pid:20": false,
	} {
		if runs(args) != want {
			t.Errorf("%s: git runs is not %v", args, want)
		}
	}
	contained := cmdtest.Process(10, 1)
	contained.OtherRoot = true
	f.ReadTable = func(context.Context) (*proc.Table, error) {
		return proc.NewFakeTable(cmdtest.Process(1, 0), contained), nil
	}
	if runs("status aaaaaaaa-1") || runs("list --wide") {
		t.Error("git is asked of a container's directory")
	}
}

// list --orphans names the processes and their ports that dead sessions left behind.
func TestListOrphans(t *testing.T) {
	f, out := cmdtest.WithOrphans(t)
	if got := cmd.Run(t.Context(), f, "list", "--orphans"); got != 0 || out.Stderr.Len() > 0 {
		t.Fatalf("exit %d, %s", got, out.Stderr.String())
	}
	want := `PID  PPID  AGENT  SESSION     AGE    CPU   MEMORY  PORTS      COMMAND
 30     1  codex  aaaaaaaa-2   1h  1m30s  5.0 MiB  3000,8080  /opt/serve -a x
 31    30  codex  aaaaaaaa-2   1h   0.0s      0 B             child
`
	if out.Stdout.String() != want {
		t.Errorf("got\n%s", out.Stdout.String())
	}
	out.Stdout.Reset()
	f.Width = 60
	if cmd.Run(t.Context(), f, "list", "--orphans"); !strings.Contains(out.Stdout.String(), "  3000,8080  serve -a x\n") {
		t.Errorf("narrow:\n%s", out.Stdout.String())
	}
	out.Stdout.Reset()
	if cmd.Run(t.Context(), f, "ls", "--orphans", "-q"); out.Stdout.String() != "30\n31\n" {
		t.Errorf("quiet: %q", out.Stdout.String())
	}
	out.Stdout.Reset()
	cmd.Run(t.Context(), f, "list", "--orphans", "--json")
	cmdtest.CheckSchema(t, "orphans", out.Stdout.String())
	if !strings.Contains(out.Stdout.String(), `"cpu":90,"memory":5242880,"ports":[3000,8080]`) {
		t.Errorf("%s", out.Stdout.String())
	}
	out.Stdout.Reset()
	if cmd.Run(t.Context(), f, "list", "--orphans", "--json", "--adapter", "claude-code"); out.Stdout.String() != "[]\n" {
		t.Errorf("of another agent: %s", out.Stdout.String())
	}
	codex := f.Adapters[1].(cmdtest.MarkingStub)
	codex.Warning = cmdtest.StoreError()
	f.Adapters[1] = codex
	if got := cmd.Run(t.Context(), f, "list", "--orphans"); got != 6 || !strings.Contains(out.Stderr.String(), "warning: codex: ") {
		t.Errorf("with a store that cannot be read: exit %d, %s", got, out.Stderr.String())
	}
}

func TestListSelects(t *testing.T) {
	for args, want := range map[string]string{
		"":                                  "aaaaaaaa-1",
		"-a":                                "aaaaaaaa-1 aaaaaaaa-2 cccccccc cccccccc",
		"--since 90m":                       "aaaaaaaa-1 aaaaaaaa-2",
		"-a --since all":                    "aaaaaaaa-1 aaaaaaaa-2 cccccccc cccccccc dddddddd",
		"-a -n2":                            "aaaaaaaa-1 aaaaaaaa-2", // beside them lives one that has none
		"-a --adapter claude-code":          "",
		"--adapter codex":                   "aaaaaaaa-1",
		"--status stopped":                  "aaaaaaaa-2 cccccccc cccccccc",
		"--status running,idle":             "aaaaaaaa-1",
		"--status idle":                     "",
		"--group g":                         "",
		"--status waiting --status stopped": "aaaaaaaa-2 cccccccc cccccccc",
	} {
		f, out := cmdtest.New(t)
		if got := cmd.Run(t.Context(), f, strings.Fields("list -q "+args)...); got != 0 {
			t.Errorf("%s: exit %d, %s", args, got, out.Stderr.String())
		}
		if got := strings.Join(strings.Fields(out.Stdout.String()), " "); got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}

// --cwd asks for the worktree, whichever way it is named.
func TestListInDirectory(t *testing.T) {
	f, out := cmdtest.New(t)
	s := f.Adapters[1].(cmdtest.Stub)
	repo, link := s.Records[0].Dir, filepath.Join(t.TempDir(), "link")
	sub := filepath.Join(repo, "sub")
	for _, err := range []error{
		os.MkdirAll(filepath.Join(repo, ".git"), 0o755), os.WriteFile(filepath.Join(repo, ".git", "HEAD"), nil, 0o600),
		os.Mkdir(sub, 0o755), os.Symlink(sub, link),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for dir, want := range map[string]string{repo: "aaaaaaaa-1\n", sub: "aaaaaaaa-1\n", link: "aaaaaaaa-1\n", t.TempDir(): ""} {
		out.Stdout.Reset()
		if cmd.Run(t.Context(), f, "list", "-q", "--cwd", dir); out.Stdout.String() != want {
			t.Errorf("%s: %q", dir, out.Stdout.String())
		}
	}
}

func TestEmptyListSpeaksOnTerminalOnly(t *testing.T) {
	f, out := cmdtest.New(t)
	f.Adapters = nil
	for _, tc := range []struct {
		args  string
		width int
		want  string
	}{
		{"list", 80, "agentctl: no live sessions; agentctl list -a shows stopped ones too\n"},
		{"list -a", 80, "agentctl: no sessions; agentctl list -a --since all looks further back\n"},
		{"list", 0, ""},
		{"list -q", 80, ""},
	} {
		out.Stderr.Reset()
		f.Width = tc.width
		if got := cmd.Run(t.Context(), f, strings.Fields(tc.args)...); got != 0 || out.Stdout.Len() > 0 || out.Stderr.String() != tc.want {
			t.Errorf("%+v: %d %q %q", tc, got, out.Stdout.String(), out.Stderr.String())
		}
	}
}
