package claudecode

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/proc"
	"agentctl/tests/must"
	"agentctl/tests/proctest"
)

// installed puts a program where a release has it, and returns an environment whose PATH leads there.
func installed(t *testing.T, release string, variables ...string) (host launch.Environment, program string) {
	t.Helper()
	root := t.TempDir()
	pkg := filepath.Join(root, "node_modules", "@anthropic-ai", "claude-code")
	file := filepath.Join(pkg, "bin", "claude.exe")
	manifest := `{"name":"@anthropic-ai/claude-code","version":"` + release + `"}`
	must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
	must.Do(t, os.WriteFile(filepath.Join(pkg, "package.json"), []byte(manifest), 0o600))
	must.Do(t, os.WriteFile(file, make([]byte, placeholderLimit+1), 0o755))
	must.Do(t, os.MkdirAll(filepath.Join(root, "bin"), 0o755))
	program = filepath.Join(root, "bin", "claude")
	must.Do(t, os.Symlink(file, program))
	return launch.Environment{Environ: append([]string{"PATH=/nowhere:" + filepath.Dir(program), "HOME=/h"}, variables...)}, program
}

// TestSpecOfALaunch has the command line for each request. The prompt is in none of them.
func TestSpecOfALaunch(t *testing.T) {
	host, program := installed(t, "2.1.329")
	for want, r := range map[string]launch.Request{
		"-p --session-id ID": {Permissions: launch.PermissionsOwn},
		"-p --session-id ID --permission-mode=acceptEdits":  {Permissions: launch.PermissionsEdit},
		"-p --session-id ID --dangerously-skip-permissions": {Permissions: launch.PermissionsFull},
		"-p --session-id ID --model=m --name=-n --verbose --allowedTools Bash": {
			Permissions: launch.PermissionsOwn, Model: "m", Name: "-n", Args: []string{"--verbose", "--allowedTools", "Bash"},
		},
	} {
		r.Prompt, r.Dir = "--help", "/w"
		spec, err := New().Spec(r, host)
		must.Do(t, err)
		got := strings.ReplaceAll(strings.Join(spec.Args[1:], " "), spec.ID, "ID")
		if got != want || spec.Args[0] != program || spec.Stdin != "--help" || spec.Dir != "/w" || spec.Resumed || len(spec.Env) > 0 {
			t.Errorf("%+v\nwant %s", spec, want)
		}
		if !New().MatchesID(spec.ID) {
			t.Errorf("%s is no random UUID", spec.ID)
		}
		if hint := spec.Hint != ""; hint != (r.Permissions == launch.PermissionsOwn && !strings.Contains(want, "allowedTools")) {
			t.Errorf("%s: the hint is %q", want, spec.Hint)
		}
	}
}

// TestSpecOfAResume: a resume sets what Claude Code forgets, and runs in the directory that the project folder is named
// after.
func TestSpecOfAResume(t *testing.T) {
	project := t.TempDir()
	session := discover.Session{Record: &discover.Record{
		ID: alive, Home: "/h/.claude", Path: "/h/.claude/projects/-w/t.jsonl", Dir: "/w/now", Model: "m",
		Meta: discover.Facts{modeMeta: "plan", dirMeta: project},
	}}
	gone := discover.Session{Record: &discover.Record{
		ID: alive, Home: "/h/.claude", Path: session.Path, Dir: "/w/now", Meta: discover.Facts{dirMeta: project + "/gone"},
	}}
	other := discover.Session{Record: &discover.Record{ID: alive, Home: "/elsewhere", Dir: "/w/now", Model: "m"}}
	for _, test := range []struct {
		release, env string
		session      discover.Session
		request      launch.Request
		want, dir    string
	}{
		{"2.1.329", "", session, launch.Request{}, "-p --resume SELF --permission-mode=plan", project},
		{"2.1.329", "ANTHROPIC_MODEL=x", session, launch.Request{}, "-p --resume SELF --model=m --permission-mode=plan", project},
		{"2.1.329", "", session, launch.Request{Model: "n", Permissions: launch.PermissionsEdit}, "-p --resume SELF --model=n --permission-mode=acceptEdits", project},
		{"2.1.329", "", session, launch.Request{Args: []string{"--settings=x"}}, "-p --resume SELF --settings=x", project},
		{"2.1.329", "", session, launch.Request{Interactive: true}, "--resume SELF --permission-mode=plan", project},
		{"2.1.329", "", session, launch.Request{Fork: true}, "-p --resume SELF --fork-session --session-id ID --permission-mode=plan", project},
		{"2.1.329", "", session, launch.Request{Moved: true}, "-p --resume PATH --permission-mode=plan", "/w/now"},
		{"2.1.197", "", session, launch.Request{Moved: true, Interactive: true}, "--resume PATH --permission-mode=plan", "/w/now"},
		{"2.1.132", "", session, launch.Request{Moved: true, Fork: true}, "-p --resume PATH --fork-session --session-id ID --permission-mode=plan", "/w/now"},
		{"2.1.329", "", gone, launch.Request{}, "-p --resume PATH", "/w/now"},
		{"2.1.329", "", other, launch.Request{}, "-p --resume SELF", "/w/now"},
		{"2.1.329", "CLAUDE_CONFIG_DIR=/elsewhere", other, launch.Request{}, "-p --resume SELF", "/w/now"},
	} {
		host, _ := installed(t, test.release, test.env)
		r := test.request
		r.Resume, r.Dir = &test.session, "/w/now"
		if r.Permissions == "" {
			r.Permissions = launch.PermissionsOwn
		}
		spec, err := New().Spec(r, host)
		must.Do(t, err)
		got := strings.ReplaceAll(strings.Join(spec.Args[1:], " "), alive, "SELF")
		got = strings.ReplaceAll(got, session.Path, "PATH")
		if got = strings.ReplaceAll(got, spec.ID, "ID"); got != test.want || spec.Dir != test.dir {
			t.Errorf("%s: %s in %s, want %s in %s", test.release, got, spec.Dir, test.want, test.dir)
		}
		if spec.Resumed == r.Fork || (spec.ID == alive) == r.Fork {
			t.Errorf("%s: ID %s, resumed %v", got, spec.ID, spec.Resumed)
		}
		var want []string
		if test.session.Home == "/elsewhere" && test.env == "" {
			want = []string{"CLAUDE_CONFIG_DIR=/elsewhere"}
		}
		if !slices.Equal(spec.Env, want) {
			t.Errorf("%s: environment %q, want %q", got, spec.Env, want)
		}
	}
}

// TestSpecRefuses: requests that Claude Code cannot carry out are errors before anything is started.
func TestSpecRefuses(t *testing.T) {
	moved := discover.Session{Record: &discover.Record{ID: alive, Home: "/h/.claude", Path: "/h/.claude/projects/-w/t.jsonl", Dir: "/w"}}
	for _, test := range []struct {
		release string
		request launch.Request
		ok      bool
	}{
		{"2.1.131", launch.Request{}, false},
		{oldestSupported, launch.Request{}, true},
		{"2.1.132", launch.Request{Moved: true, Resume: &moved}, false},
		{"2.1.132", launch.Request{Moved: true, Fork: true, Resume: &moved}, true},
		{"2.1.197", launch.Request{Moved: true, Resume: &moved}, true},
		{"2.1.329", launch.Request{Args: []string{"--session-id", "x"}}, false},
		{"2.1.329", launch.Request{Args: []string{"--resume=x"}}, false},
		{"2.1.329", launch.Request{Prompt: strings.Repeat("x", promptLimit)}, true},
		{"2.1.329", launch.Request{Prompt: strings.Repeat("x", promptLimit+1)}, false},
	} {
		host, _ := installed(t, test.release)
		_, err := New().Spec(test.request, host)
		if unsupported := errors.As(err, new(*launch.UnsupportedError)); unsupported == test.ok || err != nil && !unsupported {
			t.Errorf("%s, %.50v: %v", test.release, test.request, err)
		}
	}
	_, err := New().Spec(launch.Request{}, launch.Environment{Environ: []string{"PATH=/nowhere"}})
	if !errors.As(err, new(*launch.NotInstalledError)) {
		t.Errorf("without a program: %v", err)
	}
	host, program := installed(t, "2.1.329")
	must.Do(t, os.Truncate(program, 500))
	_, err = New().Spec(launch.Request{}, host)
	if !errors.As(err, new(*launch.NotInstalledError)) || !strings.Contains(err.Error(), "claude-code/install.cjs") {
		t.Errorf("with npm's placeholder: %v", err)
	}
}

// TestResumeMeta: the permission mode and the project's directory are those of the newest record that has them, however old
// it is. Sub-agents' records do not count.
func TestResumeMeta(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".claude")
	path := transcriptPath(dir, "/w/my repo", alive)
	prompt := func(minute int, mode, cwd string, sidechain bool) string {
		return fmt.Sprintf(`{"parentUuid":"p","isSidechain":%v,"type":"user","message":{"role":"user","content":"hi"},`+
			`"timestamp":"2026-01-01T00:%02d:00.000Z","permissionMode":"%s","cwd":"%s"}`+"\n", sidechain, minute, mode, cwd)
	}
	note := `{"type":"permission-mode","permissionMode":"plan","sessionId":"` + alive + `"}` + "\n"
	answers := strings.Repeat(`{"isSidechain":false,"type":"assistant","message":{"model":"m","content":[{"type":"text","text":"`+
		strings.Repeat("x", 1000)+`"}],"stop_reason":"end_turn"},"timestamp":"2026-01-01T00:09:00.000Z","cwd":"/w/other"}`+"\n", 40)
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
	for _, test := range []struct{ text, mode, dir string }{
		{prompt(1, "default", "/w/my repo", false), "default", ""},
		{prompt(1, "default", "/w/my repo", false) + prompt(2, "acceptEdits", "/w/my repo/sub", false), "acceptEdits", "/w/my repo"},
		{prompt(1, "auto", "/w/my repo", false) + prompt(2, "bypassPermissions", "/w/my repo", true), "auto", ""},
		{prompt(1, "default", "/w/my repo", false) + note, "plan", ""},
		{prompt(1, "acceptEdits", "/w/my_repo", false) + answers, "acceptEdits", "/w/my_repo"}, // beyond a quick look
		{prompt(1, "default", "/w/elsewhere", false), "default", ""},
	} {
		must.Do(t, os.WriteFile(path, []byte(test.text), 0o600))
		got, warned := records(t, dir, discover.EntryFilter{}, discover.ReadOptions{Full: true})
		if len(got) != 1 || len(warned) > 0 {
			t.Fatalf("%d records, %v", len(got), warned)
		}
		mode, _ := got[0].Meta[modeMeta].(string)
		if project, _ := got[0].Meta[dirMeta].(string); mode != test.mode || project != test.dir {
			t.Errorf("%.400s\nmode %q, directory %q", test.text, mode, project)
		}
	}
}

// TestTurnStart: a turn begins with the newest prompt, though answers and Claude Code's own records follow it.
func TestTurnStart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".claude")
	path := transcriptPath(dir, "/w", alive)
	record := func(second int, kind, message, rest string) string {
		return fmt.Sprintf(`{"parentUuid":"p","isSidechain":false,"type":"%s","message":%s,"timestamp":"2026-01-01T00:00:%02d.000Z"%s,"cwd":"/w"}`+"\n",
			kind, message, second, rest)
	}
	user := func(second int, content, rest string) string {
		return record(second, "user", `{"role":"user","content":`+content+`}`, rest)
	}
	const mode = `,"permissionMode":"default"`
	answer := record(5, "assistant", `{"model":"m","content":[{"type":"text","text":"a"}],"stop_reason":"end_turn"}`, "")
	call := record(6, "assistant", `{"model":"m","content":[{"type":"tool_use","id":"t","name":"Bash"}],"stop_reason":"tool_use"}`, "")
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
	for text, want := range map[string]int{
		user(1, `"one"`, mode): 1,
		user(1, `"one"`, mode) + answer + user(7, `"two"`, mode):                                                    7,
		user(1, `"one"`, mode) + answer:                                                                             1,
		user(1, `"one"`, mode) + call + user(7, `[{"type":"tool_result","tool_use_id":"t"}]`, ""):                   1,
		user(1, `"one"`, mode) + user(8, `"[Request interrupted by user]"`, ""):                                     1,
		user(1, `"one"`, mode) + answer + user(8, `"<local-command-stdout>x</local-command-stdout>"`, ""):           1,
		user(1, `"one"`, mode) + answer + user(8, `"a caveat"`, `,"isMeta":true`+mode):                              1,
		user(1, `"one"`, mode) + answer + user(9, `"of a peer"`, `,"isMeta":true,"origin":{"kind":"peer"}`+mode):    9,
		user(1, `"one"`, mode) + call + user(7, `[{"type":"tool_result","tool_use_id":"t"}]`, "") + answer + answer: 1,
	} {
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		got, _ := records(t, dir, discover.EntryFilter{}, discover.ReadOptions{})
		if began := time.Date(2026, 1, 1, 0, 0, want, 0, time.UTC); len(got) != 1 || !got[0].Turn.Began.Equal(began) {
			t.Errorf("%s\nbegan %v, want %v", text, got[0].Turn.Began, began)
		}
	}
}

// TestTurnStartOfALongTurn: the start of a turn of any length is found, but only if it is asked for.
func TestTurnStartOfALongTurn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".claude")
	path := transcriptPath(dir, "/w", alive)
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
	record := func(second int, kind, content string) string {
		return fmt.Sprintf(`{"parentUuid":"p","isSidechain":false,"type":"%s","message":{"role":"%s","model":"m","content":%s,"stop_reason":"end_turn"},"timestamp":"2026-01-01T00:00:%02d.000Z","cwd":"/w"}`+"\n", kind, kind, content, second)
	}
	const part = 64 << 10
	for _, length := range []int{2 * part, 2 * turnReach} {
		answer := `[{"type":"text","text":"` + strings.Repeat("a", part) + `"}]`
		text := record(1, "user", `"one"`) + record(2, "assistant", answer) + record(3, "user", `"two"`) +
			strings.Repeat(record(4, "assistant", answer), length/part)
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		for want, second := range map[discover.ReadOptions]int{{}: 0, {TurnStart: true}: 3} {
			got, _ := records(t, dir, discover.EntryFilter{}, want)
			if len(got) != 1 || got[0].Turn.State != discover.TurnDone || got[0].Turn.Began.IsZero() != (second == 0) ||
				second > 0 && got[0].Turn.Began.Second() != second {
				t.Errorf("%d bytes, %+v: %+v", length, want, got[0].Turn)
			}
		}
	}
}

// TestHasMarker: a process has a session's marker by the session's ID, or by the PID of the session's process if that
// started earlier.
func TestHasMarker(t *testing.T) {
	claude, _ := proctest.NewTable(native329(100, 1000, "/h", "/w")).ByPID(100)
	session := discover.Session{Record: &discover.Record{ID: alive}, Processes: []proc.Process{claude}}
	for _, test := range []struct {
		env   map[string]string
		ticks uint64
		want  bool
	}{
		{map[string]string{markerKey: "1", sessionKey: alive}, 2000, true},
		{map[string]string{markerKey: "1", sessionKey: alive}, 500, true}, // of an earlier run
		{map[string]string{sessionKey: alive}, 2000, false},               // a person may have exported it
		{map[string]string{markerKey: "1", sessionKey: strings.Replace(alive, "c", "d", 1)}, 2000, false},
		{map[string]string{markerKey: "1", pidKey: "100"}, 2000, true},
		{map[string]string{markerKey: "1", pidKey: "100"}, 500, false},
		{map[string]string{markerKey: "1", pidKey: "101"}, 2000, false},
		{map[string]string{markerKey: "1"}, 2000, false},
		{nil, 2000, false},
	} {
		tool := process0(200, test.ticks, "/h", "/w")
		tool.Environ = test.env
		p, _ := proctest.NewTable(tool).ByPID(200)
		if got := New().HasMarker(p, session); got != test.want {
			t.Errorf("%v at %d: %v", test.env, test.ticks, got)
		}
	}
}

const (
	initEvent     = `{"type":"system","subtype":"init","cwd":"/w","session_id":"` + alive + `","tools":[]}` + "\n"
	retryEvent    = `{"type":"system","subtype":"api_retry","attempt":1,"max_retries":1,"error_status":529,"error":"overloaded","session_id":"` + alive + `"}` + "\n"
	successEvent  = `{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"` + alive + `"}` + "\n"
	failureEvent  = `{"type":"result","subtype":"success","is_error":true,"api_error_status":529,"result":"API Error: 529 busy\n","session_id":"` + alive + `"}` + "\n"
	maxTurnsEvent = `{"type":"result","subtype":"error_max_turns","is_error":false,"session_id":"` + alive + `"}` + "\n"
	refusalEvent  = `{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["No conversation found"],"session_id":"` + alive + `"}` + "\n"
)

// TestParseOutput has lines as Claude Code prints them (2.1.197, 2.1.329).
func TestParseOutput(t *testing.T) {
	for _, test := range []struct{ out, id, err string }{
		{"", "", ""},
		{"the answer\n", "", ""},
		{"API Error: 400 no\n", "", ""},                    // may as well be an answer about one
		{"This is how it looks:\n" + failureEvent, "", ""}, // a quotation
		{initEvent, alive, ""},
		{initEvent + retryEvent, alive, ""}, // F5
		{initEvent + retryEvent + successEvent, alive, ""},
		{initEvent + retryEvent + failureEvent, alive, "API Error: 529 busy"},
		{failureEvent, alive, "API Error: 529 busy"},
		{failureEvent[:len(failureEvent)-9], "", ""}, // it is being written
		{initEvent + maxTurnsEvent, alive, "error_max_turns"},
		{refusalEvent, alive, "No conversation found"},
		{`{"type":"result","is_error":true,"result":"of nobody"}`, "", ""},
	} {
		want := launch.ParsedOutput{ID: test.id, Error: test.err}
		if got := New().ParseOutput(launch.Output{Stdout: []byte(test.out), Stderr: []byte("a warning\n")}); got != want {
			t.Errorf("%q: %+v, want %+v", test.out, got, want)
		}
	}
}
