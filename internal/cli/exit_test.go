package cli

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/launch"
)

// No message names a system call.
func TestNoSystemCallInMessages(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	call := regexp.MustCompile(`\b(lstat|stat|open|openat2?|read|readlink|mkdir|chdir|fork/exec)(at)? \S+: `)
	for _, args := range []string{
		"list --cwd nowhere", "list --cwd file/x", "guard nowhere", "guard file", "lock nowhere", "lock nowhere -- true", "unlock nowhere",
		"launch -p x --cwd nowhere", "launch -p x --cwd file", "launch --prompt-file nowhere", "launch -p x --spec nowhere", "launch -p x --file nowhere",
		"launch --matrix nowhere", "launch -p x --output nowhere/x", "worktree list nowhere", "worktree clean nowhere", "stop --cwd nowhere", "events --cwd nowhere",
		"hooks status nowhere", "hooks install nowhere", "wait --cwd nowhere", "resume aaaaaaaa-2 x", "metrics --output nowhere/x",
	} {
		f, out := testEnv(t)
		Run(t.Context(), f, strings.Fields(args)...)
		if said := out.Stderr.String(); said == "" || call.MatchString(said) {
			t.Errorf("%s: %q", args, said)
		}
	}
}

// Of an argument that means many sessions at most ten are shown, with their titles.
func TestAmbiguityIsShort(t *testing.T) {
	f, out := testEnv(t)
	codex := f.Adapters[1].(Stub)
	for i := range 25 {
		r := Record(fmt.Sprintf("eeee-%02d", i), "/w/e", discover.TurnDone, time.Duration(i)*time.Minute)
		if r.Title = strings.Repeat("a long title ", 20); i == 0 {
			r.Title, r.Prompt = "", "the prompt"
		}
		codex.Records = append(codex.Records, r)
	}
	f.Adapters[1] = codex
	if got := Run(t.Context(), f, "status", "eeee"); got != ExitAmbiguous {
		t.Fatalf("exit %d", got)
	}
	lines := strings.Split(strings.TrimSpace(out.Stderr.String()), "\n")
	if len(lines) != 12 || lines[0] != `agentctl: error: "eeee" matches 25 sessions` || lines[11] != "hint: and 15 more" {
		t.Fatalf("%q", lines)
	}
	if want := "hint: eeee-00 codex stopped the prompt"; lines[1] != want {
		t.Errorf("%q, want %q", lines[1], want)
	}
	if want := "hint: eeee-01 codex stopped a long title a long title a long title a long title a long …"; lines[2] != want {
		t.Errorf("%q, want %q", lines[2], want)
	}
}

// The limit counts live sessions too, which are all read.
func TestAmbiguityOfManyLiveSessions(t *testing.T) {
	ambiguous := &discover.AmbiguousError{Arg: "eeee", Total: 25}
	for i := range 14 {
		r := Record(fmt.Sprintf("eeee-%02d", i), "/w/e", discover.TurnOpen, 0)
		ambiguous.Candidates = append(ambiguous.Candidates, discover.Session{Record: &r, Status: discover.Running})
	}
	f, out := testEnv(t)
	f.Report = NewReporter(f.Stderr)
	f.Finish(ambiguous)
	if lines := strings.Split(strings.TrimSpace(out.Stderr.String()), "\n"); len(lines) != 12 || lines[11] != "hint: and 15 more" {
		t.Errorf("%q", lines)
	}
	out.Stderr.Reset()
	f.Report.JSON = true
	f.Finish(ambiguous)
	if list := reports(t, "status", out.Stderr.String()); len(list) != 1 || len(list[0].Error.Candidates) != 10 {
		t.Errorf("%s", out.Stderr.String())
	}
}

// Times in messages are those of the tables.
func TestTimesInMessages(t *testing.T) {
	t.Chdir(t.TempDir())
	at := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	if got, want := FormatTime(at), at.In(time.Local).Format("2006-01-02 15:04:05"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	f, out := testEnv(t)
	if code := Run(t.Context(), f, "lock", ".", "--by", "ana", "--reason", "x"); code != ExitOK {
		t.Fatalf("exit %d, %s", code, out.Stderr.String())
	}
	if code := Run(t.Context(), f, "guard"); code != ExitConflict || strings.Contains(out.Stderr.String(), "Z") || strings.Contains(out.Stderr.String(), "--no-verify") {
		t.Errorf("exit %d, %s", code, out.Stderr.String())
	}
	// Git asks a hook of the user's own.
	out.Stderr.Reset()
	if Run(t.Context(), Setenv(f, "GIT_INDEX_FILE", ".git/index"), "guard"); !strings.Contains(out.Stderr.String(), "wait for it, or override: git commit --no-verify") {
		t.Errorf("inside of a commit: %s", out.Stderr.String())
	}
	// A branch that begins where we are has changed no file.
	for args, says := range map[string]string{
		"-- 1111 1111 1": "", "-- 1111 2222 1": "have just changed", "-- 1111 1111 0": "have just changed", "": "have just changed",
	} {
		out.Stderr.Reset()
		if code := Run(t.Context(), f, strings.Fields("hooks run post-checkout "+args)...); code != ExitOK || !strings.Contains(out.Stderr.String(), says) || says == "" && out.Stderr.Len() > 0 {
			t.Errorf("%s: exit %d, %s", args, code, out.Stderr.String())
		}
	}
}

// A word means what the request takes, and nothing else: what was meant for another kind of request is refused.
func TestReplyTo(t *testing.T) {
	permission, once := launch.OpenRequest{Always: "allows more"}, launch.OpenRequest{}
	choices := []launch.Choice{{Label: "The first"}, {Label: "No"}}
	question := func(q launch.Question) launch.OpenRequest { return launch.OpenRequest{Questions: []launch.Question{q}} }
	closed, free := question(launch.Question{Choices: choices}), question(launch.Question{Choices: choices, FreeText: true})
	several := question(launch.Question{Choices: choices, Multiple: true})
	for _, c := range []struct {
		request launch.OpenRequest
		words   []string
		want    launch.ReplyKind
		answer  []string
		exit    int
	}{
		{permission, []string{"yes"}, launch.ReplyYes, nil, 0},
		{permission, []string{"always"}, launch.ReplyAlways, nil, 0},
		{permission, []string{"no", "use make"}, launch.ReplyNo, nil, 0},
		{permission, []string{"no", "\x1b[2J"}, "", nil, ExitUsage},
		{permission, []string{"yes", "please"}, "", nil, ExitUsage},
		{permission, []string{"ja"}, "", nil, ExitUsage},
		{once, []string{"always"}, "", nil, ExitUnable},
		{closed, []string{"the FIRST"}, launch.ReplyText, []string{"The first"}, 0},
		{closed, []string{"no"}, launch.ReplyText, []string{"No"}, 0},
		{closed, []string{"yes"}, "", nil, ExitConflict},
		{closed, []string{"the third"}, "", nil, ExitUsage},
		{closed, []string{"no", "no"}, "", nil, ExitUsage},
		{free, []string{"the third"}, launch.ReplyText, []string{"the third"}, 0},
		{free, []string{"always"}, "", nil, ExitConflict},
		{several, []string{"no, the first"}, launch.ReplyText, []string{"No", "The first"}, 0},
		{several, []string{"no, the third"}, "", nil, ExitUsage},
	} {
		reply, err := replyTo(c.request, c.words)
		if code := ExitCode(err); code != c.exit {
			t.Errorf("%q: exit code %d, want %d: %v", c.words, code, c.exit, err)
			continue
		}
		if err == nil && (reply.Kind != c.want || c.answer != nil && !slices.Equal(reply.Answers[0], c.answer)) {
			t.Errorf("%q: %+v", c.words, reply)
		}
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// Whatever prints fails if that cannot be written: every help, and every command that has an answer without an agent.
func TestFullDisk(t *testing.T) {
	lines := []string{
		"", "help", "--help", "--version", "version", "version --json", "schema", "skill", "completion bash", "completion zsh", "completion fish",
		"doctor", "doctor --json", "metrics", "list", "list --json", "list -a --since all -q", "list --wide", "list --format {{.id}}",
		"list --orphans --json", "status aaaaaaaa-1", "status aaaaaaaa-1 --json", "status aaaaaaaa-1 --explain", "peek aaaaaaaa-2 --json",
		"logs aaaaaaaa-2 --json", "current", "current -q", "locks --json", "stop aaaaaaaa-2", "stop aaaaaaaa-2 --json",
		"events --initial", "wait aaaaaaaa-2", "wait aaaaaaaa-2 --json",
	}
	for _, v := range Verbs() {
		if strings.HasPrefix(v.Name, "__") {
			continue // of programs, which have no help
		}
		lines = append(lines, v.Name+" --help", "help "+v.Name)
	}
	for _, below := range []string{"worktree list", "worktree clean", "hooks install", "hooks run"} {
		lines = append(lines, below+" --help", "help "+below)
	}
	for _, line := range lines {
		f, out := testEnv(t)
		f.Stdout = full{}
		if got := Run(t.Context(), f, strings.Fields(line)...); got != ExitFailed || !strings.Contains(out.Stderr.String(), syscall.ENOSPC.Error()) {
			t.Errorf("%s: exit %d, %q", line, got, out.Stderr.String())
		}
	}
	if _, err := os.Stat("/dev/full"); errors.Is(err, os.ErrNotExist) {
		return // not on every system
	}
	device, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	f, _ := testEnv(t)
	f.Stdout = device
	if got := Run(t.Context(), f, "help"); got != ExitFailed {
		t.Errorf("help > /dev/full: exit %d", got)
	}
}
