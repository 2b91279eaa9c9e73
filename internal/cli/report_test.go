package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"agentctl/internal/output"
)

// reports parses stderr of a call with --json: each line is an object with one of three members, an error the last.
func reports(t *testing.T, args, stderr string) []output.Diagnostic {
	t.Helper()
	var list []output.Diagnostic
	lines := strings.SplitAfter(strings.TrimSuffix(stderr, "\n"), "\n")
	if stderr == "" {
		lines = nil
	}
	for i, line := range lines {
		var members map[string]json.RawMessage
		var r output.Diagnostic
		if err := json.Unmarshal([]byte(line), &members); err != nil || len(members) != 1 {
			t.Errorf("%s: not an object with one member: %q (%v)", args, line, err)
			continue
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil || r == (output.Diagnostic{}) {
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
	for _, c := range leaves(newApp(Env{}, verbs()).Commands) {
		for _, tail := range tails {
			args := strings.Fields(verbOf(c) + " --json " + tail)
			if takesNothing(c, tail) {
				continue // it would go on until it is interrupted
			}
			env, out := testEnv(t)
			env.Interactive = true
			exit := Run(t.Context(), broken(env), args...)
			list := reports(t, strings.Join(args, " "), out.stderr.String())
			for _, line := range list {
				if kind := kindOf(line); !checked[kind] { // the schema takes a while
					checked[kind] = true
					text, err := json.Marshal(line)
					if err != nil {
						t.Fatal(err)
					}
					valid(t, strings.Fields(kind)[0], string(text))
				}
			}
			failed := len(list) > 0 && list[len(list)-1].Error != nil
			either := exit == exitNo || exit == exitPartial // with an error where nothing could be answered
			if !either && failed == (exit == exitOK) {
				t.Errorf("%v: exit %d, %q", args, exit, out.stderr.String())
			}
		}
	}
}

// kindOf names the member of a line, and an error's code.
func kindOf(r output.Diagnostic) string {
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

// An ambiguous ID is answered with the sessions that it matches.
func TestCandidatesInJSON(t *testing.T) {
	env, out := testEnv(t)
	Run(t.Context(), env, "status", "aaaaaaaa", "--json")
	list := reports(t, "status", out.stderr.String())
	if len(list) != 1 || list[0].Error == nil || len(list[0].Error.Candidates) != 2 {
		t.Fatalf("%q", out.stderr.String())
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
	env, out := testEnv(t)
	Run(t.Context(), broken(env), "list", "-a", "--json")
	list := reports(t, "list", out.stderr.String())
	if len(list) != 1 || list[0].Warning == nil || list[0].Warning.Adapter != "codex" || list[0].Warning.Path != "/h/codex/sessions" {
		t.Errorf("%q", out.stderr.String())
	}
}

// --json asks for JSON only where it is that flag.
func TestValueOfAFlagAsksForNoJSON(t *testing.T) {
	for args, want := range map[string]bool{
		"launch gemini -p --json": false, "launch gemini -p x --json": true, "launch gemini -p x --json=false": false,
		"list --json --bogus": true, "status -- --json": false,
	} {
		env, out := testEnv(t)
		Run(t.Context(), env, strings.Fields(args)...)
		if got := strings.HasPrefix(out.stderr.String(), "{"); got != want {
			t.Errorf("%s: %q", args, out.stderr.String())
		}
	}
}

// Each line that a user's script prints is an object, too; without --json the script has stderr as it is.
func TestScriptOutput(t *testing.T) {
	for asJSON, want := range map[bool]string{
		false: "one\ntwo",
		true:  `{"warning":{"message":"one","source":"--exec"}}` + "\n" + `{"warning":{"message":"two","source":"--exec"}}` + "\n",
	} {
		env, out := testEnv(t)
		env.report = newReporter(env.Stderr)
		env.report.json = asJSON
		if err := (hook{"--exec", "echo one; printf two >&2"}).shell(t.Context(), env, "", nil, nil); err != nil {
			t.Fatal(err)
		}
		if out.stderr.String() != want {
			t.Errorf("%q", out.stderr.String())
		}
	}
}

// Nothing is written behind a progress line: it is erased first, and comes back later.
func TestProgressGivesWay(t *testing.T) {
	var stderr locked
	r := newReporter(&stderr)
	r.progress("waiting, 1s …")
	r.warning(output.Warning{Message: "careful"})
	r.progress("waiting, 2s …")
	resume := r.pause()
	r.progress("waiting, 3s …")
	resume()
	r.progress("waiting, 4s …")
	const erase = "\r\x1b[K"
	if got, want := stderr.String(), "\rwaiting, 1s …"+erase+"agentctl: warning: careful\n\rwaiting, 2s …"+erase+"\rwaiting, 4s …"; got != want {
		t.Errorf("%q", got)
	}
}

// Nothing but the reporter writes to stderr, where that would not be JSON with --json.
func TestOneWriterOfStderr(t *testing.T) {
	allowed := map[string]string{
		"cli.go":         "makes the reporter, and names it to the library, which prints nothing there",
		"lock.go":        "of the command that lock runs, which excludes --json",
		"pager.go":       "of the pager, which excludes --json",
		"stop_select.go": "the question on a terminal, which excludes --json",
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	ours := regexp.MustCompile(`\b(env|c|call|r|sc)\.Stderr\b`) // whatever holds an Env
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if uses := ours.Match(text); uses && allowed[name] == "" && !strings.HasSuffix(name, "_test.go") {
			t.Errorf("%s writes to stderr by itself", name)
		}
	}
}
