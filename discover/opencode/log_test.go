package opencode

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/proc"
	"agentctl/tests/must"
	"agentctl/tests/proctest"
)

const lineStart = "timestamp=2026-11-20T19:26:37.928Z level=INFO run=e5f72788 "

func TestParseLogLine(t *testing.T) {
	const id = "ses_e0593310dffecX97Nvcf9s8a1P"
	for line, want := range map[string]struct {
		session string
		over    bool
	}{
		lineStart + "message=loop session.id=" + id + " step=0":                                                {id, false},
		strings.Replace(lineStart, "INFO", "ERROR", 1) + `message=process session.id=` + id + ` error=Aborted`: {id, true},
		lineStart + `message=process session.id=` + id:                                                         {id, false},
		lineStart + `message="exiting loop" session.id=` + id:                                                  {id, true},
		lineStart + "message=cancel session.id=" + id:                                                          {id, true},
		lineStart + "message=created id=" + id + ` slug=x parentID=undefined title="t"`:                        {id, false},
		lineStart + "message=asking id=" + id:                                                                  {"", false},
		lineStart + "message=created id=per_1 parentID=" + id:                                                  {"", false},
		lineStart + `message=x title="a session.id=` + id + ` b"`:                                              {"", false},
		lineStart + `message=x error="a \" session.id=` + id + `" step=1`:                                      {"", false},
		lineStart + `message="session.id=` + id + ``:                                                           {"", false},
		lineStart + "message=loop session.id=../../etc step=0":                                                 {"", false},
		"    at run (session.id=" + id + ")":                                                                   {"", false},
		`{"run":"e5f72788","session.id":"` + id + `"}`:                                                         {"", false},
		lineStart + "message=stream providerID=anthropic session.id=" + id + " small=false agent=x":            {id, false},
	} {
		got := parseLogLine([]byte(line))
		if got.session != want.session || got.ended != want.over {
			t.Errorf("%s\ngot %+v", line, got)
		}
		if strings.HasPrefix(line, lineStart) && want.session != "" && got.run != "e5f72788" {
			t.Errorf("%s\nrun %q", line, got.run)
		}
	}
}

// While the API refuses requests, each attempt and each error is a line (SEEN 1.18.33). Errors about the title do not count.
func TestLogEventsOfAnError(t *testing.T) {
	const id = "ses_e05979612ffe415jjjvmTetWgF"
	line := func(second int, text string) string {
		return fmt.Sprintf("timestamp=2026-11-20T19:26:%02dZ level=INFO run=e5f72788 message=%s session.id=%s", second, text, id)
	}
	attempt := func(second int, small bool) string {
		return line(second, "stream providerID=anthropic") + fmt.Sprintf(" small=%v agent=build\n", small)
	}
	refused := func(second int, small bool, words string) string {
		return line(second, `"stream error" providerID=anthropic`) + fmt.Sprintf(" small=%v agent=build error.error=%q\n", small, words)
	}
	const limit = `AI_APICallError: "slow" down: 429`
	for name, test := range map[string]struct{ log, want string }{
		"refused":             {attempt(1, false) + refused(2, false, limit), `"slow" down: 429`},
		"asked again":         {attempt(1, false) + refused(2, false, limit) + attempt(3, false), ""},
		"refused again":       {refused(2, false, "one: 1") + attempt(3, false) + refused(4, false, "no kind here: 2"), "no kind here: 2"},
		"the title, too":      {refused(2, false, limit) + attempt(3, true) + refused(4, true, "E: of the title"), `"slow" down: 429`},
		"the title alone":     {attempt(1, false) + refused(2, true, "E: of the title"), ""},
		"lines out of order":  {refused(4, false, "E: later") + attempt(3, false), "later"},
		"the end of the turn": {refused(2, false, limit) + line(3, `"exiting loop"`) + "\n", ""},
	} {
		got, err := readLogHistory(storage.NewMemoryFile("log", []byte(test.log), at(t, "19:27:00")), map[string]time.Time{"e5f72788": at(t, "19:26:00")})
		if m := got.events["e5f72788"][id]; err != nil || m.retryError != test.want || m.ended != (name == "the end of the turn") {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
}

func TestProcessLogSession(t *testing.T) {
	const id = "ses_e05979612ffe415jjjmvTetWgF"
	for line, want := range map[string]string{
		"INFO  2026-11-20T19:21:49 +2ms service=session id=" + id + " slug=swift-knight title=x":  id,
		"INFO  2026-11-20T19:21:49 +2ms service=session.prompt step=0 sessionID=" + id + " loop":  id,
		"INFO  2026-11-20T19:21:49 +2ms service=session.prompt sessionID=" + id + " exiting loop": id,
		"INFO  2026-11-20T19:21:49 +2ms service=session slug=a title=x id=" + id:                  "",
		"INFO  2026-11-20T19:21:49 +2ms service=llm title=ms service=session id=ses_../x":         "",
		"INFO  2026-11-20T19:21:49 +2ms service=server path=/session/" + id + "/message":          "",
		"INFO  2026-11-20T19:21:49 +2ms service=session":                                          "",
	} {
		if got := processLogSession([]byte(line)); got != want {
			t.Errorf("%s: %q", line, got)
		}
	}
}

func FuzzLogLine(f *testing.F) {
	f.Add(lineStart + "message=loop session.id=ses_e0593310dffecX97Nvcf9s8a1P step=0")
	f.Add(lineStart + `message="a\"`)
	f.Add("timestamp==")
	f.Fuzz(func(t *testing.T, line string) {
		got := parseLogLine([]byte(line))
		if got.session != "" && (!isSessionID(got.session) || !strings.Contains(line, "="+got.session) && !strings.Contains(line, `="`+got.session)) {
			t.Errorf("%q: session %q", line, got.session)
		}
		// A quoted text has no fields.
		quoted := parseLogLine([]byte(lineStart + `title="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(line) + `" session.id=ses_1`))
		if quoted.session != "ses_1" && !strings.Contains(line, "\n") {
			t.Errorf("%q in quotes: %+v", line, quoted)
		}
		_ = processLogSession([]byte(line))
	})
}

func FuzzProcessLog(f *testing.F) {
	f.Add([]byte("INFO  2026-11-20T19:21:49 +2ms service=session id=ses_1 x\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var whole, torn processLogs
		err := whole.read(storage.NewMemoryFile("log", data, at(t, "19:00:00")), nil)
		must.Do(t, err)
		// A torn last line changes nothing before it.
		err = torn.read(storage.NewMemoryFile("log", append(data, "\nINFO  x +2ms service=session id=ses_torn"...), at(t, "19:00:00")), nil)
		if err != nil || slices.Contains(torn.sessions, "ses_torn") && !slices.Contains(whole.sessions, "ses_torn") && !strings.Contains(string(data), "ses_torn") {
			t.Errorf("%v, %v, %v", whole, torn, err)
		}
	})
}

const requestLine = lineStart + "message=asking id=per_1fa677ca6001SK5QCYOjgbhRYQ permission="

func TestARequestForPermissionIsForACall(t *testing.T) {
	asked := lineTime([]byte(lineStart))
	call := func(tool string, later time.Duration) part {
		return part{Tool: tool, Started: asked.Add(later).UnixMilli()}
	}
	for i, c := range []struct {
		line string
		part part
		want bool
	}{
		{`bash patterns="[\"sleep 33\"]"`, call("bash", 0), true},
		{`bash patterns="[\"sleep 33\"]"`, call("bash", time.Millisecond), true}, // the request is logged while its call is stored
		{`bash patterns="[\"sleep 33\"]"`, call("bash", requestLead+time.Millisecond), false},
		{`bash patterns="[\"sleep 33\"]"`, call("write", 0), false},
		{`edit patterns="[\"a.txt\"]"`, call("write", 0), true},
		{`external_directory patterns="[\"/etc/*\"]"`, call("write", 0), true},
		{`task patterns="[\"general\"]"`, call("task", 0), true},
	} {
		line := parseLogLine([]byte(requestLine + c.line))
		if line.run != "e5f72788" || !line.at.Equal(asked) || line.requests(c.part) != c.want {
			t.Errorf("%d: %s by run %q is for %+v: %v", i, c.line, line.run, c.part, !c.want)
		}
	}
}

// A call that has not reported waits for permission only if its process has asked for it: on a busy machine commands begin late.
func TestASilentCallWaitsOnlyIfItsProcessAsks(t *testing.T) {
	dir := capture(t, "raw-tui-permission-pending")
	log, err := os.ReadFile(filepath.Join(dir, "opencode.log"))
	must.Do(t, err)
	asks, _, _ := strings.Cut(string(log), "message=asking id=per_")
	silent := asks[:strings.LastIndex(asks, "\n")+1]
	mkdir(t, filepath.Join(dir, "log"))
	for name, c := range map[string]struct {
		log   string
		args  []string
		waits bool
	}{
		"asks":                     {string(log), nil, true},
		"does not ask":             {silent, nil, false},
		"a server asks":            {string(log), []string{"serve"}, true},
		"refuses by itself":        {string(log), []string{"run", "x"}, false},
		"another process asks":     {silent + strings.ReplaceAll(string(log[len(silent):]), "run=", "run=x"), nil, false},
		"its log is turned down":   {"", []string{"-s", "ses_e05988da6ffeaSNInL2Awlo4TA", "--log-level", "ERROR"}, true},
		"turned down, and refuses": {"", []string{"run", "-s", "ses_e05988da6ffeaSNInL2Awlo4TA", "--log-level", "ERROR"}, false},
	} {
		writeFile(t, filepath.Join(dir, "log", "opencode.log"), []byte(c.log))
		offset := int64(min(len(c.log), len(silent)))
		if c.log == string(log) {
			offset = int64(len(log))
		}
		claims := claimed(t, withLog(agent(1, at(t, "19:20:30"), c.args...), dir, offset))[1]
		if len(claims) != 2 {
			t.Fatalf("%s: claims %+v", name, claims)
		}
		turn := claims[1].Turn
		if got := turn != nil && turn.State == discover.TurnWaiting && turn.WaitingFor == "permission"; got != c.waits {
			t.Errorf("%s: turn %+v", name, turn)
		}
		if c.waits && turn != nil && !reflect.DeepEqual(turn.WaitingOn, &discover.WaitingOn{ID: "toolu_mock34", Tool: "bash", Brief: "sleep 33"}) {
			t.Errorf("%s: it waits on %+v", name, turn.WaitingOn)
		}
	}
}

// inProgress makes a data folder with one session, whose turn began at a time and has not ended, and a log with a line about it of the run
// e5f72788 at another time.
func inProgress(t *testing.T, prompted, logged time.Time, line string) (dir string, end int64) {
	t.Helper()
	dir = mkdir(t, filepath.Join(t.TempDir(), "opencode"))
	execute(t, filepath.Join(dir, "opencode.db"),
		"create table session(id text primary key, parent_id, directory, time_created, time_updated)",
		"create table message(id text primary key, session_id text, time_created, time_updated, data)",
		"create table part(id text primary key, message_id text, time_updated, data)",
		fmt.Sprintf("insert into session values ('ses_1', '', '/x', %[1]d, %[1]d)", prompted.UnixMilli()),
		fmt.Sprintf(`insert into message values ('msg_1', 'ses_1', %[1]d, 0, '{"role":"user","time":{"created":%[1]d}}')`, prompted.UnixMilli()))
	log := fmt.Sprintf("timestamp=%s level=INFO run=e5f72788 %s\n", logged.UTC().Format("2006-01-02T15:04:05.000Z"), line)
	writeFile(t, filepath.Join(mkdir(t, filepath.Join(dir, "log")), "opencode.log"), []byte(log))
	return dir, int64(len(log))
}

// An agent whose requests the API refuses tries again forever. Only the log says why.
func TestRetrying(t *testing.T) {
	asked := at(t, "19:20:01")
	dir, end := inProgress(t, asked, asked.Add(time.Second), `message="stream error" session.id=ses_1 small=false error.error="E: status 429"`)
	claims := claimed(t, withLog(agent(1, asked.Add(-time.Minute), "run", "x"), dir, end))[1]
	if len(claims) != 2 || claims[1].Turn == nil || claims[1].Turn.State != discover.TurnOpen || claims[1].Turn.Detail != "retrying: status 429" {
		t.Errorf("claims %+v", claims)
	}
}

// A session that waits for the user goes on waiting when it is sent a message. What a process that is gone has left open does not count.
func TestWaitsDespiteAMessage(t *testing.T) {
	asked := at(t, "19:20:01")
	for name, c := range map[string]struct {
		tool  string
		start time.Time // of the process
		want  discover.TurnState
	}{
		"question":             {`"question","state":{"status":"running","input":{"questions":[{"question":"Which?"}]}`, asked.Add(-time.Minute), discover.TurnWaiting},
		"tool":                 {`"grep","state":{"status":"running","input":{}`, asked.Add(-time.Minute), discover.TurnOpen},
		"an earlier process's": {`"question","state":{"status":"running","input":{"questions":[{"question":"Which?"}]}`, asked.Add(time.Second), discover.TurnNone},
	} {
		dir, end := inProgress(t, asked, asked.Add(time.Second), "message=loop session.id=ses_1")
		execute(t, filepath.Join(dir, "opencode.db"),
			fmt.Sprintf(`insert into message values ('msg_2', 'ses_1', %[1]d, 0, '{"role":"assistant","time":{"created":%[1]d}}')`, asked.UnixMilli()+5),
			fmt.Sprintf(`insert into part values ('prt_2', 'msg_2', 0, '{"type":"tool","tool":%s,"time":{"start":%d}}}')`, c.tool, asked.UnixMilli()+6),
			fmt.Sprintf(`insert into message values ('msg_3', 'ses_1', %[1]d, 0, '{"role":"user","time":{"created":%[1]d}}')`, asked.UnixMilli()+3000))
		claims := claimed(t, withLog(agent(1, c.start, "serve"), dir, end))[1]
		if len(claims) != 2 {
			t.Fatalf("%s: %+v", name, claims)
		}
		var got discover.Turn
		if claims[1].Turn != nil {
			got = *claims[1].Turn
		}
		if c.want == discover.TurnNone && claims[1].Turn != nil || c.want != discover.TurnNone && (got.State != c.want || !got.Began.Equal(asked.Add(5*time.Millisecond))) {
			t.Errorf("%s: turn %+v, want %v", name, got, c.want)
		}
	}
}

// withProcessLogs gives a process logs of its own, as before 1.17. logs has their content by name.
func withProcessLogs(t *testing.T, dir string, f proctest.Process, logs map[string]string) proctest.Process {
	t.Helper()
	f.Environ = map[string]string{"XDG_DATA_HOME": filepath.Dir(dir)}
	f.Files = []proc.OpenFile{{FD: 7, Path: filepath.Join(dir, "opencode.db"), Writable: true}}
	for name, log := range logs {
		path := filepath.Join(mkdir(t, filepath.Join(dir, "log")), name)
		writeFile(t, path, []byte(log))
		f.Files = append(f.Files, proc.OpenFile{FD: 9, Path: path, Writable: true})
	}
	return f
}

// firstLine is the first line of a process in its log.
func firstLine(version, args string) string {
	return fmt.Sprintf("INFO  2026-11-20T19:23:33 +3ms service=default version=%s args=[%s] process_role=main run_id=be625a55 opencode\n", version, args)
}

const namedByLog = "ses_e0595f6a4ffeSH5QxP6vSaS9k3"

// created is the line of a process that has created a session.
const created = "INFO  2026-11-20T19:23:34 +6ms service=session id=" + namedByLog + " slug=x version=1.14.41 title=New session created\n"

// exactly reports which processes are tied to a session by proof.
func exactly(t *testing.T, processes ...proctest.Process) (pids []int) {
	t.Helper()
	for pid, claims := range claimed(t, processes...) {
		if slices.ContainsFunc(claims, func(c discover.Claim) bool {
			return c.Session == namedByLog && c.Strength == discover.Exact && c.Kind == "log-file"
		}) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Before 1.17, each process has its own log, unless two began in the same second. A terminal interface has two (SEEN 1.14.41): the first
// begins with its arguments; the worker's, which names the sessions, has none, and counts only together with the first one.
func TestProcessLog(t *testing.T) {
	dir := restore(t, "multi-run-midturn")
	start := at(t, "19:23:33")
	run := func(pid int, prompt string, logs map[string]string) proctest.Process {
		return withProcessLogs(t, dir, agent(pid, start, "run", prompt), logs)
	}
	own := map[string]string{"a.log": firstLine("1.14.41", `"run","hi"`) + created}
	shared := map[string]string{"a.log": firstLine("1.14.41", `"run","hi"`) + firstLine("1.14.41", `"run","other"`) + created}
	if got := exactly(t, run(1, "hi", own)); len(got) != 1 {
		t.Errorf("its own log: %v", got)
	}
	for name, processes := range map[string][]proctest.Process{
		"shared": {run(1, "hi", shared), run(2, "other", shared)}, "another one's": {run(1, "not what the log says", own)},
	} {
		if got := exactly(t, processes...); len(got) != 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
	tui := func(pid int, logs map[string]string) proctest.Process {
		return withProcessLogs(t, dir, agent(pid, start), logs)
	}
	main := firstLine("1.14.41", "")
	if got := exactly(t, tui(1, map[string]string{"main.log": main, "worker.log": created})); len(got) != 1 {
		t.Errorf("a terminal: %v", got)
	}
	for name, processes := range map[string][]proctest.Process{
		"worker alone":  {tui(1, map[string]string{"worker.log": created})},
		"worker shared": {tui(1, map[string]string{"main.log": main, "worker.log": created}), tui(2, map[string]string{"worker.log": created})},
		"two starts":    {tui(1, map[string]string{"main.log": main, "second.log": main + created})},
	} {
		if got := exactly(t, processes...); len(got) != 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A process of a version below the floor is a row that says so, and proves nothing of a session. Its binary's package, or its log, has the version.
func TestBelowFloor(t *testing.T) {
	dir := restore(t, "multi-run-midturn")
	start := at(t, "19:23:33")
	exe := filepath.Join(t.TempDir(), "opencode-linux-x64", "bin", "opencode")
	writeFile(t, filepath.Join(mkdir(t, filepath.Dir(filepath.Dir(exe))), "package.json"), []byte(`{"name":"opencode-linux-x64","version":"1.13.9"}`))
	packaged := withLog(agent(2, start, "serve"), dir, 0)
	packaged.Exe = exe
	got := claimed(t, withProcessLogs(t, dir, agent(1, start, "run", "hi"), map[string]string{"a.log": firstLine("1.1.65", `"run","hi"`) + created}), packaged)
	for pid, want := range map[int]string{1: "1.1.65 is older than supported (1.14): update", 2: "1.13.9 is older"} {
		if len(got[pid]) == 0 {
			t.Fatalf("%d has no row", pid)
		}
		for _, c := range got[pid] {
			if !strings.Contains(c.Unreadable, want) || c.Turn != nil && c.Session == "" || c.HideIfUnlinked || c.Session != "" && c.Strength != discover.Weak {
				t.Errorf("%d: %+v", pid, c)
			}
		}
	}
}

// withOutput gives a process without a log an output.
func withOutput(t *testing.T, f proctest.Process, dir, stdout string, change func(*proc.OpenFile)) proctest.Process {
	t.Helper()
	path := filepath.Join(t.TempDir(), "stdout")
	must.Do(t, os.WriteFile(path, []byte(stdout), 0o600))
	out := proc.OpenFile{FD: 1, Path: "/tmp/#4711", Deleted: true, Writable: true, Offset: int64(len(stdout)), Proc: path}
	if change != nil {
		change(&out)
	}
	f.Environ = map[string]string{"XDG_DATA_HOME": filepath.Dir(dir)}
	f.Files = []proc.OpenFile{out}
	return f
}

// If no log names the session of a headless process, its output in an anonymous file does.
func TestSessionInOutput(t *testing.T) {
	dir := restore(t, "killed9")
	ids := storedIDs(t, dir)
	event := func(id string) string { return `{"type":"step_start","sessionID":"` + id + `","part":{}}` + "\n" }
	for _, c := range []struct {
		name, stdout string
		change       func(*proc.OpenFile)
		want         bool
	}{
		{"without a name", event(ids[0]) + "noise\n" + event(ids[0]), nil, true},
		{"in memory", event(ids[0]), func(f *proc.OpenFile) { f.Path = "/memfd:agent-stdout" }, true},
		{"nothing yet", "", nil, false},
		{"a torn line", event(ids[0])[:50], nil, false},
		{"of two sessions", event(ids[0]) + event(ids[1]), nil, false},
		{"written by somebody later", event(ids[0]), func(f *proc.OpenFile) { f.Offset = 0 }, false},
		{"with a name", event(ids[0]), func(f *proc.OpenFile) { f.Path, f.Deleted = "/tmp/out.jsonl", false }, false},
		{"whose name is gone", event(ids[0]), func(f *proc.OpenFile) { f.Path = "/tmp/out.jsonl" }, false},
		{"not its stdout", event(ids[0]), func(f *proc.OpenFile) { f.FD = 2 }, false},
	} {
		f := agent(80, at(t, "23:00:00"), "run", "--format", "json")
		claims := claimed(t, withOutput(t, f, dir, c.stdout, c.change))[80]
		exact := false
		for _, claim := range claims {
			exact = exact || claim.Session == ids[0] && claim.Strength == discover.Exact && claim.Kind == "output"
		}
		if exact != c.want {
			t.Errorf("%s: %+v", c.name, claims)
		}
	}
}

// storedIDs returns the session IDs in a database.
func storedIDs(t *testing.T, dir string) (ids []string) {
	t.Helper()
	entries, err := New().Entries(t.Context(), []discover.Home{{Dir: dir}}, discover.EntryFilter{})
	if err != nil || len(entries) < 2 {
		t.Fatalf("%d sessions, %v", len(entries), err)
	}
	for _, e := range entries {
		ids = append(ids, e.ID)
	}
	return ids
}
