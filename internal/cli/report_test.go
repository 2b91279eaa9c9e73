package cli

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urfave/cli/v2"

	"agentctl/internal/object"
)

// reports parses stderr of a call with --json: each line is an object with one of three members, an error the last.
func reports(t *testing.T, args, stderr string) []object.Diagnostic {
	t.Helper()
	var list []object.Diagnostic
	lines := strings.SplitAfter(strings.TrimSuffix(stderr, "\n"), "\n")
	if stderr == "" {
		lines = nil
	}
	for i, line := range lines {
		var members map[string]json.RawMessage
		var r object.Diagnostic
		if err := json.Unmarshal([]byte(line), &members); err != nil || len(members) != 1 {
			t.Errorf("%s: not an object with one member: %q (%v)", args, line, err)
			continue
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil || r == (object.Diagnostic{}) {
			t.Errorf("%s: %q (%v)", args, line, err)
		}
		if r.Error != nil && i < len(lines)-1 {
			t.Errorf("%s: the error is not the last line: %q", args, stderr)
		}
		list = append(list, r)
	}
	return list
}

// With --json every line on stderr is JSON, whatever the command and whatever fails.
func TestStderrIsJSON(t *testing.T) {
	tails := []string{
		"", "--json=true", "nothing", "nothing nothing nothing", "aaaaaaaa", "cccccccc", "pid:x", "--frobnicate", "--jsn", "-Z",
		"--cwd /nowhere/at/all", "--cwd", "--adapter gemini", "--since soon", "--status asleep", "-n x", "--timeout soon", "-q",
		"/nowhere/at/all", "--repo /nowhere/at/all", "--group", "--until never", "--format {{.nope}}", "-p hello --permissions yolo",
		"-p hello --spec /nowhere", "--matrix /nowhere", "--webhook ftp://x", "--for soon .", ". -- true", "--all", "--orphans",
	}
	t.Chdir(t.TempDir())
	checked := map[string]bool{}
	for _, c := range Leaves(NewApp(Env{}).Commands) {
		for _, tail := range tails {
			args := strings.Fields(CommandName(c) + " --json " + tail)
			if takesNothing(c, tail) {
				continue // it would go on until it is interrupted
			}
			f, out := testEnv(t)
			f.StderrWidth = defaultWidth
			exit := Run(t.Context(), Broken(f), args...)
			list := reports(t, strings.Join(args, " "), out.Stderr.String())
			for _, line := range list {
				if kind := kindOf(line); !checked[kind] { // the schema takes a while
					checked[kind] = true
					text, err := json.Marshal(line)
					if err != nil {
						t.Fatal(err)
					}
					CheckSchema(t, strings.Fields(kind)[0], string(text))
				}
			}
			failed := len(list) > 0 && list[len(list)-1].Error != nil
			either := exit == ExitNo || exit == ExitPartial // with an error where nothing could be answered
			if !either && failed == (exit == ExitOK) {
				t.Errorf("%v: exit %d, %q", args, exit, out.Stderr.String())
			}
		}
	}
}

// kindOf names the member of a line, and an error's code.
func kindOf(r object.Diagnostic) string {
	switch {
	case r.Error != nil:
		return "error " + r.Error.Code
	case r.Warning != nil:
		return "warning"
	}
	return "hint"
}

// takesNothing reports whether a command line of events is complete, so that it would run.
func takesNothing(c *cli.Command, tail string) bool {
	return c.Name == "events" && (tail == "" || tail == "--json=true" || tail == "--all")
}

// On a terminal, what is said breaks between words.
func TestReportsBreakBetweenWords(t *testing.T) {
	f, out := testEnv(t)
	f.StderrWidth = 60
	Run(t.Context(), f, "stop", "--all")
	if got, want := out.Stderr.String(), `agentctl: error: a selection needs --yes when not on a
                 terminal, and with --json; --dry-run shows
                 what it would stop
hint: agentctl stop --help
`; got != want {
		t.Errorf("%s", got)
	}
}

// An ambiguous ID is answered with the sessions that it matches.
func TestCandidatesInJSON(t *testing.T) {
	f, out := testEnv(t)
	Run(t.Context(), f, "status", "aaaaaaaa", "--json")
	list := reports(t, "status", out.Stderr.String())
	if len(list) != 1 || list[0].Error == nil || len(list[0].Error.Candidates) != 2 {
		t.Fatalf("%q", out.Stderr.String())
	}
	var ids []string
	for _, s := range list[0].Error.Candidates {
		ids = append(ids, *s.ID)
	}
	if got := strings.Join(ids, " "); got != "aaaaaaaa-1 aaaaaaaa-2" || strings.Contains(list[0].Error.Hint, "aaaaaaaa") {
		t.Errorf("%s, %q", got, list[0].Error.Hint)
	}
}

// What a warning is about is in members of its own.
func TestWarningsInJSON(t *testing.T) {
	f, out := testEnv(t)
	Run(t.Context(), Broken(f), "list", "-a", "--json")
	list := reports(t, "list", out.Stderr.String())
	if len(list) != 1 || list[0].Warning == nil || list[0].Warning.Adapter != "codex" || list[0].Warning.Path != "/h/codex/sessions" {
		t.Errorf("%q", out.Stderr.String())
	}
}

// --json asks for JSON only where it is that flag.
func TestValueOfAFlagAsksForNoJSON(t *testing.T) {
	for args, want := range map[string]bool{
		"launch gemini -p --json": false, "launch gemini -p x --json": true, "launch gemini -p x --json=false": false,
		"list --json --bogus": true, "status -- --json": false,
	} {
		f, out := testEnv(t)
		Run(t.Context(), f, strings.Fields(args)...)
		if got := strings.HasPrefix(out.Stderr.String(), "{"); got != want {
			t.Errorf("%s: %q", args, out.Stderr.String())
		}
	}
}

// locked is a buffer that another goroutine writes.
type locked struct {
	mu  sync.Mutex
	got []byte
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.got = append(l.got, p...)
	return len(p), nil
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.got)
}

// What takes long is shown once it does, and leaves no trace.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var stderr locked
		stop := Env{StderrWidth: defaultWidth, Report: NewReporter(&stderr)}.Progress("reading")
		<-time.After(900 * time.Millisecond) // of the bubble's own clock
		synctest.Wait()
		if stderr.String() != "" {
			t.Errorf("early: %q", stderr.String())
		}
		<-time.After(1200 * time.Millisecond)
		synctest.Wait()
		stop()
		if got, want := stderr.String(), "\ragentctl: reading, 1s …\ragentctl: reading, 2s …\r\x1b[K"; got != want {
			t.Errorf("%q", got)
		}
	})
	var stderr locked
	if (Env{Report: NewReporter(&stderr)}).Progress("reading")(); stderr.String() != "" {
		t.Errorf("not a terminal: %q", stderr.String())
	}
}

// Nothing is written behind a progress line: it is erased first, and comes back later.
func TestProgressGivesWay(t *testing.T) {
	var stderr locked
	r := NewReporter(&stderr)
	r.progress("waiting, 1s …")
	r.warning(object.Warning{Message: "careful"})
	r.progress("waiting, 2s …")
	resume := r.Pause()
	r.progress("waiting, 3s …")
	resume()
	r.progress("waiting, 4s …")
	const erase = "\r\x1b[K"
	if got, want := stderr.String(), "\rwaiting, 1s …"+erase+"agentctl: warning: careful\n\rwaiting, 2s …"+erase+"\rwaiting, 4s …"; got != want {
		t.Errorf("%q", got)
	}
}

// A hint is given once for each command, and not with --quiet.
func TestHintsOnce(t *testing.T) {
	for args, want := range map[string]int{"--yes": 1, "--yes --quiet=false": 1, "--yes -q": 0, "--yes --json": 1} {
		f, out := testEnv(t)
		Run(t.Context(), f, append([]string{"rm", "--older-than", "1s"}, strings.Fields(args)...)...)
		if got := strings.Count(out.Stderr.String(), "left out: "); got != want {
			t.Errorf("%s: %d hints, want %d:\n%s", args, got, want, out.Stderr.String())
		}
	}
}
