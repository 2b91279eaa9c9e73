package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/proc"
	"agentctl/tests/must"
)

// ending is how a command line ends.
type ending struct {
	args string
	exit int
	says string // on stderr
}

// checkEndings runs each command line in a world of its own. Nothing more is on stderr than what it says, and a usage error is one error and one hint.
func checkEndings(t *testing.T, world func(*testing.T) (Env, *Output), list []ending) {
	t.Helper()
	for _, tc := range list {
		f, out := world(t)
		if got := Run(t.Context(), f, strings.Fields(tc.args)...); got != tc.exit {
			t.Errorf("%s: exit %d, want %d; %s", tc.args, got, tc.exit, out.Stderr.String())
		}
		stderr := out.Stderr.String()
		if tc.says == "" && stderr != "" || !strings.Contains(stderr, tc.says) {
			t.Errorf("%s: stderr %q, want %q", tc.args, stderr, tc.says)
		}
		if tc.exit > 1 && out.Stdout.Len() > 0 {
			t.Errorf("%s: failed with output %q", tc.args, out.Stdout.String())
		}
		if lines := strings.Count(stderr, "\n"); tc.exit == 2 && !WantsJSON(strings.Fields(tc.args)) && (lines != 2 || !strings.HasPrefix(stderr, "agentctl: error: ")) {
			t.Errorf("%s: not one error and one hint: %q", tc.args, stderr)
		}
	}
}

func TestExitCodes(t *testing.T) {
	checkEndings(t, testEnv, []ending{
		{"", 0, ""},
		{"--help", 0, ""},
		{"help", 0, ""},
		{"help list", 0, ""},
		{"help ls --no-pager", 0, ""},
		{"help --no-pager", 0, ""},
		{"help agentctl", 0, ""},
		{"help help", 0, ""},
		{"help --help", 0, ""},
		{"help host", 0, ""},
		{"help hooks install", 0, ""},
		{"list --help", 0, ""},
		{"status aaaaaaaa-1 --help", 0, ""},
		{"list", 0, ""},
		{"ls -a --since all", 0, ""},
		{"ps -aq -n5", 0, ""},
		{"list -n 0", 0, ""},
		{"status aaaaaaaa-1", 0, ""},
		{"show aaaaaaaa-2", 0, ""},
		{"status pid:10", 0, ""},
		{"status pid:20", 0, ""},
		{"status cccccccc@/w/b", 0, ""},
		{"status aaaaaaaa-1 --alive", 0, ""},
		{"current", 0, ""},
		{"doctor", 0, ""},
		{"schema", 0, ""},
		{"schema config", 0, ""},
		{"skill", 0, ""},
		{"version", 0, ""},
		{"--version", 0, ""},
		{"completion zsh", 0, ""},

		{"worktree", 0, ""},
		{"worktree clean --help", 0, ""},
		{"help worktree list", 0, ""},

		{"worktree lst", 2, `unknown worktree command "lst"` + "\nhint: did you mean list?"},
		{"worktree --json list", 2, "must follow the command"},
		{"worktree list --jsn", 2, `unknown flag "--jsn"`},
		{"worktree list a b", 2, `worktree list does not take the argument "b"` + "\nhint: agentctl worktree list --help"},
		{"worktree clean", 2, "needs a worktree's path or branch"},
		{"worktree clean --group", 2, "flag --group needs a value\nhint: agentctl worktree clean --help"},
		{"worktree clean --force=x a", 2, "hint: agentctl worktree clean --help"},
		{"worktree list /nowhere/at/all", 2, "no such file or directory"},
		{"worktree clean a --repo /nowhere/at/all", 2, "no such file or directory"},
		{"lst", 2, `unknown command "lst"` + "\nhint: did you mean list?"},
		{"frobnicate", 2, "hint: agentctl --help lists the commands"},
		{"watch", 2, "hint: did you mean agentctl list --watch?"},
		{"top", 2, "hint: agentctl list prints the sessions once"},
		{"kill x", 2, "hint: did you mean agentctl stop?"},
		{"tail x", 2, "hint: did you mean agentctl logs -f?"},
		{"continue x", 2, "hint: did you mean agentctl resume?"},
		{"stop -f x", 2, "hint: did you mean --force?"},
		{"list -o json", 2, "hint: did you mean --json?"},
		{"list -x", 2, "hint: agentctl list --help"},
		{"help lst", 2, `unknown command "lst"` + "\nhint: did you mean list?"},
		{"help kill", 2, `unknown command "kill"` + "\nhint: did you mean agentctl stop?"},
		{"help __complete", 2, `unknown command "__complete"` + "\nhint: agentctl --help lists the commands"},
		{"help worktree lst", 2, `unknown worktree command "lst"` + "\nhint: did you mean list?"},
		{"help list all", 2, `list has no command "all"` + "\nhint: agentctl help --help"},
		{"help agentctl list", 2, `agentctl has no command "list"`},
		{"help --jsn", 2, `unknown flag "--jsn"`},
		{"--json list", 2, "must follow the command"},
		{"list --stats idle", 2, `unknown flag "--stats"` + "\nhint: did you mean --status?"},
		{"list --sorted cpu", 2, `unknown flag "--sorted"` + "\nhint: did you mean --sort?"},
		{"list --nothing", 2, `unknown flag "--nothing"` + "\nhint: agentctl list --help\n"},
		{"list --n 3", 2, `unknown flag "--n"` + "\nhint: did you mean -n?"},
		{"current --sort cpu", 2, `unknown flag "--sort"` + "\nhint: agentctl current --help\n"},
		{"worktree list --grup a", 2, `unknown flag "--grup"` + "\nhint: agentctl worktree list --help\n"},
		{"search -rf", 2, `unknown flag "-rf"` + "\nhint: a pattern that begins with a dash: agentctl search -- \"-rf\""},
		{"list -json", 2, `unknown flag "-json"` + "\nhint: did you mean --json?"},
		{"list --adapter codx", 2, `unknown agent "codx"` + "\nhint: did you mean codex?"},
		{"list --adapter codex,pi", 2, `unknown agent "pi"`},
		{"list --adapter claud", 2, `unknown agent "claud"` + "\nhint: did you mean claude-code?"},
		{"work", 2, "did you mean worktree?"},
		{"list --status iddle", 2, `unknown status "iddle"` + "\nhint: did you mean idle?"},
		{"list --status", 2, "flag --status needs a value"},
		{"list --cwd=", 2, "flag --cwd needs a value"},
		{"list --cwd /nowhere/at/all", 2, "--cwd: "},
		{"list -n", 2, "flag -n needs a value"},
		{"list -a --all -q --quiet -n 1", 0, ""}, // two names of one flag
		{"search -C 1 --context 2 nothing", 8, ""},
		{"list -n x", 2, `invalid value "x" for flag -n: use a whole number`},
		{"list --json=maybe", 2, `invalid boolean value "maybe" for flag --json`},
		{"list -n -1", 2, "-n must be 0 or more"},
		{"list --json=perhaps", 2, "perhaps"},
		{"list --since someday", 2, "2h30m, 30d, 2w"},
		{"list --cwd /dev/null", 2, "not a directory"},
		{"status nothing --alive", 3, "no such session"},
		{"list --since soon", 2, `"soon" is not a valid time`},
		{"list --format {{.nope}}", 2, `no field "nope"`},
		{"list --format {{.matches}}", 2, `no field "matches"`},
		{"status aaaaaaaa-1 --format {{.explain.verdict}}{{.matches}}", 2, `no field "matches"; valid fields: id, host,`},
		{"status aaaaaaaa-1 --explain --format {{.explain.verdict}}", 0, ""},
		{"list --format {{call}}", 2, "--format: "},
		{"list --json -q", 2, "cannot be used together"},
		{"search -l --json x", 2, "--ids and --json cannot be used together"},
		{"search -l --format {{.id}} x", 2, "--ids and --format cannot be used together"},
		{"wait -q --format {{.id}} aaaaaaaa-1", 2, "--quiet and --format cannot be used together"},
		{"list extra", 2, `does not take the argument "extra"`},
		{"list -- --json", 2, `does not take the argument "--json"`},
		{"status", 2, "needs the ID of a session"},
		{"status a b", 2, `does not take the argument "b"`},
		{"status a --alive --explain", 2, "--alive prints nothing"},
		{"status a --adapter nope", 2, `unknown agent "nope"`},
		{"current here", 2, `"here"`},
		{"current -q --json", 2, "cannot be used together"},
		{"completion", 2, "needs a shell"},
		{"completion bsh", 2, "did you mean bash?"},
		{"schema x", 2, `unknown schema "x"` + "\nhint: use one of: config"},
		{"schema config x", 2, `schema does not take the argument "x"`},
		{"skill x", 2, `"x"`},
		{"doctor x", 2, `"x"`},
		{"version x", 2, `"x"`},

		{"status nothing", 3, "no such session: nothing\nhint: agentctl list -a --since all"},
		{"status 999004711", 3, "hint: agentctl list -a --since all shows every session"}, // too large for a pid, as the beginning of an ID is
		{"stop 4711", 3, "hint: did you mean pid:4711?"},
		{"stop all", 3, "hint: did you mean agentctl stop --all?"},
		{"status .", 3, "hint: agentctl list -a --cwd . shows the sessions of that directory"},
		{"events --type waiting", 2, `unknown event type "waiting"` + "\nhint: did you mean session.waiting?"},
		{"-v", 2, "unknown flag \"-v\"\nhint: did you mean agentctl --version?"},
		{"-n 3 list", 2, "-n must follow the command\nhint: agentctl COMMAND -n"},
		{"--nothing list", 2, "unknown flag \"--nothing\"\nhint: agentctl --help lists the commands"},
		{"status pid:11", 3, "no such session: process 11"},
		{"status pid:x", 3, `"x" is not a process id`},
		{"status aaaaaaaa-1 --adapter claude-code", 3, "no such session"},
		{"status aaaaaaaa-1@/w/elsewhere", 3, "no such session"},
		{"status aaaaaaaa --alive", 4, "hint: aaaaaaaa-1 codex running title of aaaaaaaa-1"},
		{"status cccccccc", 4, "cccccccc@/w/b"},
		{"status aaaaaaaa-2 --alive", 8, ""},
	})
}

// What could not be read is named, cleaned, and makes the command partial.
func TestPartial(t *testing.T) {
	for _, args := range []string{"list -a", "list -a --json", "list -aq", "status aaaaaaaa-1", "status aaaaaaaa-1 --json", "doctor", "doctor --json"} {
		f, out := testEnv(t)
		if got := Run(t.Context(), Broken(f), strings.Fields(args)...); got != 6 {
			t.Errorf("%s: exit %d", args, got)
		}
		want := "agentctl: warning: codex: /h/codex/sessions: it is broken\n"
		if strings.Contains(args, "--json") {
			want = `{"warning":{"message":"codex: /h/codex/sessions: it is\u001b[2J broken","adapter":"codex","path":"/h/codex/sessions"}}` + "\n"
		}
		if args == "doctor --json" {
			want = strings.Replace(want, `,"adapter":"codex","path":"/h/codex/sessions"`, "", 1)
		}
		if out.Stderr.String() != want {
			t.Errorf("%s: stderr %q, want %q", args, out.Stderr.String(), want)
		}
		if out.Stdout.Len() == 0 {
			t.Errorf("%s: nothing is printed", args)
		}
	}
	for args, want := range map[string]int{"status nothing": 6, "status aaaaaaaa-1 --alive": 0, "status aaaaaaaa-2 --alive": 8} {
		f, out := testEnv(t)
		if got := Run(t.Context(), Broken(f), strings.Fields(args)...); got != want || !strings.Contains(out.Stderr.String(), "warning: codex") {
			t.Errorf("%s: exit %d, %q", args, got, out.Stderr.String())
		}
	}
}

// A status that cannot be told is neither alive nor stopped.
func TestAliveUnknown(t *testing.T) {
	f, out := testEnv(t)
	s := f.Adapters[0].(Stub)
	s.ClaimList[0].Unreadable = "open files: permission denied"
	f.Adapters = []discover.Adapter{s}
	if got := Run(t.Context(), f, "status", "pid:20", "--alive"); got != 6 || out.Stdout.Len() > 0 {
		t.Errorf("exit %d, %q", got, out.Stdout.String())
	}
}

func TestErrorsInJSON(t *testing.T) {
	for args, code := range map[string]string{
		"list --json --adapter x":      "usage",
		"lst --json":                   "usage",
		"status --json nothing":        "not_found",
		"status aaaaaaaa --json":       "ambiguous",
		"list --json=true --since ?":   "usage",
		"status --json a\x1b[2J\u202e": "not_found",
	} {
		f, out := testEnv(t)
		Run(t.Context(), f, strings.Split(args, " ")...)
		var line struct {
			Error struct{ Code, Message, Hint string }
		}
		if err := json.Unmarshal(out.Stderr.Bytes(), &line); err != nil || line.Error.Code != code || line.Error.Message == "" {
			t.Errorf("%s: %q, %v", args, out.Stderr.String(), err)
		}
		if strings.Count(out.Stderr.String(), "\n") != 1 || strings.ContainsAny(out.Stderr.String(), "\x1b\u202e") {
			t.Errorf("%s: %q", args, out.Stderr.String())
		}
	}
	// After --, --json is an argument.
	f, out := testEnv(t)
	if got := Run(t.Context(), f, "status", "--", "--json"); got != 3 || !strings.HasPrefix(out.Stderr.String(), "agentctl: error: no such session: --json") {
		t.Errorf("%d %q", got, out.Stderr.String())
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{{"list"}, {"list", "-a"}, {"status", "aaaaaaaa-1"}, {"current"}, {"doctor"}} {
		f, out := testEnv(t)
		if got := Run(ctx, f, args...); got != 130 || out.Stderr.String() != "agentctl: error: interrupted\n" {
			t.Errorf("%v: exit %d, %q", args, got, out.Stderr.String())
		}
	}
}

// A real SIGINT ends what has been going on for a while, with exit code 130.
func TestSignal(t *testing.T) {
	early := make(chan os.Signal, 1)
	signal.Notify(early, os.Interrupt) // for good: one that comes before it is taken over, or after the command, would end all tests
	f, out := testEnv(t)
	f.ReadTable = func(ctx context.Context, _ bool) (*proc.Table, error) {
		again := time.NewTicker(time.Millisecond)
		defer again.Stop()
		for ctx.Err() == nil {
			if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
				return nil, err
			}
			<-again.C
		}
		return nil, fmt.Errorf("reading the process table: %w", ctx.Err())
	}
	if got := Run(t.Context(), f, "list"); got != 130 || out.Stderr.String() != "agentctl: error: interrupted\n" {
		t.Errorf("exit %d, %q", got, out.Stderr.String())
	}
}

type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Err: syscall.EPIPE}
}

// A reader that has seen enough is no error to speak of.
func TestClosedPipe(t *testing.T) {
	for _, args := range []string{
		"list", "list --json", "list -q", "list --format {{.id}}", "status aaaaaaaa-1", "status aaaaaaaa-1 --json",
		"current -q", "doctor", "doctor --json", "schema", "skill", "version", "completion fish", "__complete zsh l",
	} {
		f, out := testEnv(t)
		f.Stdout = closedPipe{}
		if got := Run(t.Context(), f, strings.Fields(args)...); got != ExitNoReader || out.Stderr.Len() > 0 {
			t.Errorf("%s: exit %d, %q", args, got, out.Stderr.String())
		}
	}
}

func TestProcessTableUnreadable(t *testing.T) {
	f, out := testEnv(t)
	f.ReadTable = func(context.Context, bool) (*proc.Table, error) {
		return nil, fmt.Errorf("reading the process table: no /proc")
	}
	const want = "agentctl: warning: processes: reading the process table: no /proc\n"
	if got := Run(t.Context(), f, "list"); got != 6 || out.Stderr.String() != want {
		t.Errorf("exit %d, %q, want 6 and %q", got, out.Stderr.String(), want)
	}
}

func TestConfiguration(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "agentctl", "config.toml")
	must.Do(t, os.Mkdir(filepath.Dir(path), 0o755))
	write := func(text string) {
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	}
	f, out := testEnv(t)
	f = Setenv(f, "XDG_CONFIG_HOME", dir)

	write("since = \"40d\"\n")
	if Run(t.Context(), f, "list", "-aq"); !strings.Contains(out.Stdout.String(), "dddddddd") {
		t.Errorf("the file's since is not in force: %q", out.Stdout.String())
	}
	out.Stdout.Reset()
	if Run(t.Context(), f, "list", "-aq", "--since", "1d"); strings.Contains(out.Stdout.String(), "dddddddd") {
		t.Errorf("the flag does not beat the file: %q", out.Stdout.String())
	}
	write("sinze = \"40d\"\n")
	for args, code := range map[string]int{"list": 2, "status x": 2, "current": 2, "doctor": 6} {
		out.Stderr.Reset()
		if got := Run(t.Context(), f, strings.Fields(args)...); got != code || !strings.Contains(out.Stderr.String(), path+":1:") {
			t.Errorf("%s: exit %d, %q", args, got, out.Stderr.String())
		}
	}
}

func TestColor(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "agentctl", "config.toml")
	must.Do(t, os.Mkdir(filepath.Dir(path), 0o755))
	for _, tc := range []struct {
		color string
		width int
		env   []string
		flag  string
		want  bool
	}{
		{"auto", 80, nil, "", true},
		{"auto", 0, nil, "", false},
		{"always", 0, nil, "", true},
		{"never", 80, nil, "", false},
		{"auto", 80, []string{"NO_COLOR", "1"}, "", false},
		{"always", 80, []string{"NO_COLOR", "1"}, "", false},
		{"auto", 80, []string{"TERM", "dumb"}, "", false},
		{"always", 80, nil, "--no-color", false},
	} {
		must.Do(t, os.WriteFile(path, []byte("color = \""+tc.color+"\"\n"), 0o600))
		f, out := testEnv(t)
		f = Setenv(f, append(tc.env, "XDG_CONFIG_HOME", dir)...)
		f.Width = tc.width
		Run(t.Context(), f, strings.Fields("list "+tc.flag)...)
		if got := strings.Contains(out.Stdout.String(), "\x1b["); got != tc.want {
			t.Errorf("%+v: %q", tc, out.Stdout.String())
		}
	}
}

// The help lists every command once, in a group.
func TestHelpListsEveryCommand(t *testing.T) {
	f, out := testEnv(t)
	Run(t.Context(), f, "--help")
	for _, v := range Verbs() {
		line := "\n   " + strings.Join(append([]string{v.Name}, v.Aliases...), ", ") + " "
		if want := map[bool]int{true: 1}[!strings.HasPrefix(v.Name, "__")]; strings.Count(out.Stdout.String(), line) != want {
			t.Errorf("%s is not listed %d times:\n%s", v.Name, want, out.Stdout.String())
		}
	}
}
