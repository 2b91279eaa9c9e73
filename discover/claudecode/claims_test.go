package claudecode

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/proc"
	"agentctl/tests/must"
	"agentctl/tests/proctest"
)

const (
	tui1  = "e226c6c2-b29e-44bd-a15c-c206f3c183bb" // fixture 03: pid 23113, ticks 80645
	alive = "cccccccc-2222-4333-8444-555555555555" // fixture 09: pids 4045 and 5005
)

func TestRegistryEntryNamesTheSession(t *testing.T) {
	dir := home(t, "03-tui-live-clear-resume-compact-subagent-2.1.197")
	got := claims(t, dir, native329(23113, 80645, dir, "/srv/claude-lab/w/tui1"))
	if len(got) != 2 || got[0].Session != "" {
		t.Fatalf("want a presence and a claim, got %+v", got)
	}
	c := got[1]
	want := filepath.Join(dir, "projects/-srv-claude-lab-w-tui1", tui1+transcriptSuffix)
	if c.Session != tui1 || c.Path != want || c.Strength != discover.Exact || c.Kind != "registry" {
		t.Errorf("claim %+v", c)
	}
	if c.Title != "my nice name" || c.Source != "tui" || c.Dir != "/srv/claude-lab/w/tui1" || c.Version != "2.1.197" || c.Home != dir {
		t.Errorf("facts %+v", c)
	}
	if c.Turn == nil || c.Turn.State != discover.TurnDone {
		t.Errorf("turn %+v, want done: the status is idle", c.Turn)
	}
}

// Two processes may run one session: a TUI and a print run that resumed it.
func TestTwoProcessesOnOneSession(t *testing.T) {
	dir := home(t, "09-two-processes-one-session-2.1.197")
	cwd := "/srv/claude-lab/w/alive"
	got := sessions(claims(t, dir, native329(4045, 199670, dir, cwd), native329(5005, 200424, dir, cwd, "-p", "--resume", alive)))
	if len(got) != 2 || got[0].Session != alive || got[1].Session != alive || got[0].Path != got[1].Path {
		t.Fatalf("claims %+v", got)
	}
	if got[0].Source != "tui" || got[1].Source != "print" || got[1].Turn == nil || got[1].Turn.State != discover.TurnOpen {
		t.Errorf("a print run is in its turn while it lives: %+v", got)
	}
}

// A background session's process may have been a spare: its command line names no session. Its helpers run none.
func TestBackgroundSession(t *testing.T) {
	dir := home(t, "11-bg-idle-claimed-spare-2.1.329")
	cwd := "/srv/claude-lab/w/bg329"
	worker := native329(13060, 217800, dir, cwd)
	worker.Arguments = []string{"claude", "bg-spare", "--bg-spare", "/tmp/cc-daemon-0/94ac6be9/spare/54b23a74.claim.sock"}
	worker.Parent = 13011
	host := native329(13011, 217787, dir, cwd)
	host.Arguments = []string{"claude", "bg-pty-host", "--bg-pty-host", "/tmp/x.sock", "200", "50", "--", "claude", "--session-id", alive}
	daemon := native329(12999, 217700, dir, "/", "daemon", "run", "--origin", "transient")
	spare := worker
	spare.ID.PID, spare.Ticks = 13061, 217801
	got := claims(t, dir, daemon, host, worker, spare)
	if len(got) != 2 {
		t.Fatalf("want the worker's presence and session only: %+v", got)
	}
	c := got[1]
	if c.Session != "b8d3588e-9fce-4956-a72a-8fe62bb837e0" || c.Source != "bg" || c.Meta["jobId"] != "b8d3588e" || c.Title != "mock reply 396" {
		t.Errorf("claim %+v", c)
	}
}

// A spare process may register like a session, with the field "spare" (2.1.329) or without (2.1.197). It runs no session
// until it gets a task, which its job file shows. The session is named after its job until it gets a name.
func TestSpareProcess(t *testing.T) {
	dir := t.TempDir()
	f := native329(300, 1000, dir, "/w", "--session-id", alive, "--agent", "claude")
	f.Environ, f.Parent = map[string]string{configKey: dir}, 299
	host := native329(299, 999, dir, "/w", "bg-pty-host", "--bg-pty-host", "/tmp/x.sock")
	none := func(when string) {
		t.Helper()
		if got := claims(t, dir, f, host); len(got) != 0 {
			t.Errorf("%s: %+v", when, got)
		}
	}
	one := func(when string) {
		t.Helper()
		if got := sessions(claims(t, dir, f, host)); len(got) != 1 || got[0].Session != alive || got[0].Title != "" {
			t.Errorf("%s: %+v", when, got)
		}
	}
	none("begun")
	entry := fmt.Sprintf(`"sessionId":%q,"procStart":"1000","version":"2.1.329","kind":"bg","name":%q,"jobId":%q`, alive, alive[:jobIDLen], alive[:jobIDLen])
	writeEntry(t, dir, 300, entry+`,"status":"idle","spare":true`)
	none("registered with the mark")
	writeEntry(t, dir, 300, entry+`,"status":"idle"`)
	none("registered")
	writeEntry(t, dir, 300, entry+`,"status":"busy"`)
	one("at work")
	must.Do(t, os.MkdirAll(filepath.Dir(jobPath(dir, alive)), 0o700))
	must.Do(t, os.WriteFile(jobPath(dir, alive), []byte("{}"), 0o600))
	writeEntry(t, dir, 300, entry+`,"status":"idle"`)
	one("given a task")
	must.Do(t, os.Remove(registryPath(dir, 300)))
	one("given a task before it registers")
}

// A terminal whose session has moved to the background (the left arrow key) keeps its registry entry (2.1.329), but runs no
// session.
func TestParkedSession(t *testing.T) {
	dir := t.TempDir()
	const moved = "69ba9323-748f-4c94-8ed6-bd4b556515cd"
	writeTranscript(t, dir, minimal+fmt.Sprintf(`{"type":"continued-in","timestamp":"2026-11-22T07:37:49.381Z","sessionId":%q,"continuedInSessionId":%q}`+"\n", alive, moved))
	f := native329(300, 1000, dir, "/w")
	f.Environ = map[string]string{configKey: dir}
	writeEntry(t, dir, 300, fmt.Sprintf(`"sessionId":%q,"procStart":"1000","version":"2.1.329","kind":"interactive","status":"busy","parkedJobId":%q`, alive, moved[:jobIDLen]))
	if got := claims(t, dir, f); len(got) != 0 {
		t.Errorf("claims %+v", got)
	}
	got, _ := records(t, dir, discover.EntryFilter{}, discover.ReadOptions{})
	if len(got) != 1 || got[0].Meta["continuedIn"] != moved {
		t.Errorf("records %+v", got)
	}
}

// S14: a session that is not stored yet is claimed nevertheless.
func TestUntouchedTUIIsIdle(t *testing.T) {
	dir := home(t, "09-two-processes-one-session-2.1.197")
	must.Do(t, os.RemoveAll(filepath.Join(dir, "projects")))
	got := sessions(claims(t, dir, native329(4045, 199670, dir, "/srv/claude-lab/w/alive")))
	if len(got) != 1 || got[0].Session != alive || got[0].Path != "" || got[0].Dir != "/srv/claude-lab/w/alive" {
		t.Fatalf("claims %+v", got)
	}
}

func numbered(i int) string { return fmt.Sprintf("%08d-0000-4000-8000-000000000000", i) }

func writeEntry(t *testing.T, dir string, pid int, fields string) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Join(dir, "sessions"), 0o700))
	must.Do(t, os.WriteFile(registryPath(dir, pid), fmt.Appendf(nil, `{"pid":%d,"cwd":"/w","entrypoint":"cli",%s}`, pid, fields), 0o600))
}

// Without a registry entry, the command line may name the session.
func TestEvidenceWithoutRegistryEntry(t *testing.T) {
	dir := home(t, "01-print-2.1.197")
	own := native329(200, 2000, dir, "/w")
	own.Environ[sessionKey] = alive // it was started inside of another session: that is not its own
	for _, c := range []struct {
		name     string
		table    []proctest.Process
		session  string
		strength discover.Strength
	}{
		{"print", []proctest.Process{native329(200, 2000, dir, "/w", "-p", "--session-id", alive, "--", "hi")}, alive, discover.Strong},
		{"TUI", []proctest.Process{native329(200, 2000, dir, "/w", "-r", alive)}, alive, discover.Weak},
		{"fork with an id", []proctest.Process{native329(200, 2000, dir, "/w", "-p", "-r", tui1, "--fork-session", "--session-id="+alive)}, alive, discover.Strong},
		{"fork", []proctest.Process{native329(200, 2000, dir, "/w", "-p", "-r", tui1, "--fork-session")}, "", 0},
		{"nothing", []proctest.Process{own}, "", 0},
	} {
		got := sessions(claims(t, dir, c.table...))
		if c.session == "" && len(got) == 0 {
			continue
		}
		if len(got) != 1 || got[0].Session != c.session || got[0].Strength != c.strength {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

func TestReadMarker(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want discover.EnvMarker
	}{
		{map[string]string{markerKey: "1", sessionKey: alive}, discover.EnvMarker{Session: alive, OutlivesSession: true}},
		{map[string]string{markerKey: "1", sessionKey: alive, pidKey: "7"}, discover.EnvMarker{Session: alive, OutlivesSession: true, PID: 7}},
		{map[string]string{markerKey: "1", pidKey: "7"}, discover.EnvMarker{PID: 7}},
		{map[string]string{sessionKey: alive, pidKey: "7"}, discover.EnvMarker{}},
		{map[string]string{markerKey: "1"}, discover.EnvMarker{}},
		{map[string]string{markerKey: "1", sessionKey: "x", pidKey: "-7"}, discover.EnvMarker{}},
	} {
		mark, ok := New().ReadMarker(func(k string) string { return c.env[k] })
		if ok != (c.want != discover.EnvMarker{}) || mark != c.want {
			t.Errorf("%v: %+v, %v", c.env, mark, ok)
		}
	}
}

// writeKey makes the key file of a process.
func writeKey(t *testing.T, dir string, pid int, made time.Time) {
	t.Helper()
	path := filepath.Join(dir, sessionsName, fmt.Sprintf("%d.2813a0671605cb4cb07b28e759259b4cce2fc69674b7a9b948b1fafaeb7c4d67%s", pid, keySuffix))
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.Do(t, os.WriteFile(path, nil, 0o600))
	must.Do(t, os.Chtimes(path, made, made))
}

// A program of any name runs a session if its registry entry has its pid and its start, and something else of it.
func TestRenamedProgram(t *testing.T) {
	dir, work := t.TempDir(), t.TempDir()
	renamed := process0(300, 1000, dir, work)
	renamed.Environ, renamed.Name, renamed.Exe, renamed.Arguments = map[string]string{configKey: dir}, "foo", "/opt/foo", []string{"/opt/foo"}
	entry := func(procStart string) string {
		return fmt.Sprintf(`"sessionId":%q,"cwd":%q,"version":"2.1.332","kind":"interactive","status":"busy"%s`, alive, work, procStart)
	}
	const procStart = `,"procStart":"1000"`
	for name, c := range map[string]struct {
		process func(*proctest.Process)
		entry   string
		found   bool
	}{
		"in its directory":         {func(*proctest.Process) {}, entry(procStart), true},
		"pid and start alone":      {func(f *proctest.Process) { f.WorkingDir = "/" }, entry(procStart), false},
		"another start":            {func(*proctest.Process) {}, entry(`,"procStart":"1001"`), false},
		"no start":                 {func(*proctest.Process) {}, entry(""), false},
		"named in its arguments":   {func(f *proctest.Process) { f.WorkingDir, f.Arguments = "/", []string{"foo", "--resume", alive} }, entry(procStart), true},
		"a name like the agent's":  {func(f *proctest.Process) { f.WorkingDir, f.Exe = "/", "/opt/claude-raw" }, entry(procStart), true},
		"a first argument like it": {func(f *proctest.Process) { f.WorkingDir, f.Arguments = "/", []string{"claude", "-c"} }, entry(procStart), true},
		"its embedded tool":        {func(f *proctest.Process) { f.Arguments = []string{"rg", "--files"} }, entry(procStart), false},
		"moved to the background":  {func(*proctest.Process) {}, entry(procStart + `,"parkedJobId":"69ba9323"`), false},
	} {
		f := renamed
		c.process(&f)
		must.Do(t, os.RemoveAll(filepath.Join(dir, sessionsName)))
		writeEntry(t, dir, 300, c.entry)
		got := claims(t, dir, f)
		switch {
		case !c.found && len(got) == 0:
		case !c.found || len(got) != 2 || got[0].NameOnly || got[1].Session != alive || got[1].Strength != discover.Exact || got[1].Dir != work:
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A home that nothing names but a program of another name is one if the program has registered there.
func TestHomeOfARenamedProgram(t *testing.T) {
	dir := t.TempDir()
	f := process0(300, 1000, "", "/w")
	f.Name, f.Exe, f.Arguments, f.Environ = "foo", "/opt/foo", []string{"foo"}, map[string]string{configKey: dir}
	homes := func(table *proc.Table) int {
		return len(New().Homes(discover.HomeSources{Getenv: func(string) string { return "" }}, table))
	}
	table := proctest.NewTable(f)
	if n := homes(table.Thorough()); n != 0 {
		t.Errorf("%d homes before it has registered", n)
	}
	writeEntry(t, dir, 300, fmt.Sprintf(`"sessionId":%q,"procStart":"1000","version":"2.1.332"`, alive))
	if n := homes(table.Thorough()); n != 1 {
		t.Errorf("%d homes", n)
	}
	if n := homes(table); n != 0 {
		t.Errorf("%d homes of a table that is not thorough", n)
	}
}

// The name of a program is no evidence. A key file of the process is: it has no entry while it asks whether the directory is trusted.
func TestProcessBeforeItRegisters(t *testing.T) {
	dir := t.TempDir()
	f := native329(300, 1000, dir, "/w")
	f.Environ = map[string]string{configKey: dir}
	renamed := f
	renamed.Exe, renamed.Name, renamed.Arguments = "/opt/claude-raw", "claude-raw", []string{"claude-raw"}
	other := renamed
	other.Exe, other.Name, other.Arguments = "/opt/foo", "foo", []string{"foo"}
	check := func(when string, nameOnly bool, renamedFound int) {
		t.Helper()
		if got := claims(t, dir, f); len(got) != 1 || got[0].Session != "" || got[0].NameOnly != nameOnly {
			t.Errorf("%s: %+v", when, got)
		}
		if got := claims(t, dir, renamed); len(got) != renamedFound || renamedFound > 0 && got[0].NameOnly {
			t.Errorf("%s, renamed: %+v", when, got)
		}
		if got := claims(t, dir, other); len(got) != 0 {
			t.Errorf("%s, another name: %+v", when, got)
		}
	}
	check("nothing", true, 0)
	writeKey(t, dir, 300, f.Started.Add(-time.Minute))
	check("a key of an earlier process", true, 0)
	writeKey(t, dir, 300, f.Started.Add(time.Second))
	check("its key", false, 1)
}

// A folder with very many files is listed in part, and says so. A process with the agent's name is found all the same.
func TestRegistryIsBounded(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, sessionsName)
	must.Do(t, os.MkdirAll(folder, 0o700))
	for i := range registryLimit {
		must.Do(t, os.WriteFile(filepath.Join(folder, fmt.Sprintf("left-%d", i)), nil, 0o600))
	}
	f := native329(300, 1000, dir, "/w")
	f.Environ = map[string]string{configKey: dir}
	writeEntry(t, dir, 300, fmt.Sprintf(`"sessionId":%q,"procStart":"1000","version":"2.1.332"`, alive))
	got, err := New().Claims(context.Background(), proctest.NewTable(f), []discover.Home{{Dir: dir}})
	if n := len(warningsIn(t, err)); n != 1 || len(got) != 2 {
		t.Errorf("%d warnings, claims %+v", n, got)
	}
}

const (
	teamName = "session-77163742"
	lead     = "a0475f8e-17d7-4380-b79f-f3cf2e161ebb"
	mate     = "34ec97dd-7851-48bc-9196-abb079c99c8f"
)

// teammateRecords are the records of a teammate: what it was told and, if it has answered, what it said.
func teammateRecords(at time.Time, id string, sidechain, answered bool) string {
	envelope := fmt.Sprintf(`"isSidechain":%t,"timestamp":%q,"cwd":"/w","sessionId":%q,"version":"2.1.332","entrypoint":"cli"`, sidechain, at.UTC().Format(time.RFC3339Nano), id)
	if !sidechain {
		envelope += fmt.Sprintf(`,"teamName":%q,"agentName":"mate"`, teamName)
	}
	text := `{"type":"user","uuid":"1",` + envelope + `,"message":{"content":"<teammate-message teammate_id=\"team-lead\">\nfirst words\n</teammate-message>"}}` + "\n"
	if answered {
		text += `{"type":"assistant","parentUuid":"1","uuid":"2",` + envelope + `,"message":{"stop_reason":"end_turn","content":[{"type":"text","text":"done"}]}}` + "\n"
	}
	return text
}

func writeAt(t *testing.T, path, text string, at time.Time) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	must.Do(t, os.Chtimes(path, at, at))
}

// A teammate in a pane of tmux has no registry entry. Its command line and its records name it.
func TestTeammateInATerminal(t *testing.T) {
	dir := t.TempDir()
	f := native329(500, 5000, dir, "/w", "--agent-id", "mate@"+teamName, "--agent-name", "mate", "--team-name", teamName,
		"--agent-color", "blue", "--parent-session-id", lead, "--permission-mode", "default")
	f.Environ = map[string]string{configKey: dir}
	writeKey(t, dir, 500, f.Started.Add(time.Second))
	renamed := f
	renamed.Exe, renamed.Name = "/opt/foo", "foo"
	renamed.Arguments = append([]string{"foo"}, f.Arguments[1:]...)
	both := func(when string, check func(got []discover.Claim) bool) {
		t.Helper()
		for _, f := range []proctest.Process{f, renamed} {
			if got := claims(t, dir, f); len(got) == 0 || got[0].NameOnly || got[0].Parent != lead || got[0].Team != teamName || got[0].Title != "mate" || !check(got) {
				t.Errorf("%s, %s: %+v", when, f.Exe, got)
			}
		}
	}
	both("before its first turn", func(got []discover.Claim) bool { return len(got) == 1 })
	path := transcriptPath(dir, "/w", mate)
	writeAt(t, path, teammateRecords(f.Started, mate, false, true), f.Started.Add(-time.Second))
	both("an earlier teammate of its name", func(got []discover.Claim) bool { return len(got) == 1 })
	writeAt(t, transcriptPath(dir, "/w", alive), minimal, f.Started.Add(time.Hour))
	at := f.Started.Add(time.Minute)
	writeAt(t, path, teammateRecords(at, mate, false, true), at)
	both("idle", func(got []discover.Claim) bool {
		c := got[len(got)-1]
		return len(got) == 2 && c.Session == mate && c.Path == path && c.Strength == discover.Strong && c.Parent == lead && c.Turn == nil
	})
	// 2.1.197 has no key.
	must.Do(t, os.RemoveAll(filepath.Join(dir, sessionsName)))
	if got := claims(t, dir, f); len(got) != 2 || got[0].NameOnly || got[1].Session != mate {
		t.Errorf("without a key: %+v", got)
	}
	if got := claims(t, dir, renamed); len(got) != 0 {
		t.Errorf("under another name, without a key: %+v", got)
	}
	// It is no sub-agent, and what the lead has told it is not the user's.
	all, _ := records(t, dir, discover.EntryFilter{ID: mate}, discover.ReadOptions{Full: true})
	if len(all) != 1 || all[0].IsSubagent() || all[0].Team != teamName || all[0].Title != "mate" || all[0].Prompt != "" || all[0].Meta["turns"] != 0 {
		t.Errorf("records %+v", all)
	}
}

// A teammate that is a sub-agent is alive as long as the team has it: its metadata file does not record its end.
func TestTeammateInTheProcess(t *testing.T) {
	dir := t.TempDir()
	f := native329(500, 5000, dir, "/w")
	f.Environ = map[string]string{configKey: dir}
	at := f.Started.Add(time.Minute)
	writeEntry(t, dir, 500, fmt.Sprintf(`"sessionId":%q,"procStart":"5000","version":"2.1.332","status":"idle"`, lead))
	session := transcriptPath(dir, "/w", lead)
	writeAt(t, session, minimal, at)
	write := func(id string, answered bool, at time.Time) string {
		path := filepath.Join(subagentDir(session), id+transcriptSuffix)
		writeAt(t, path, teammateRecords(at, lead, true, answered), at)
		writeAt(t, metaPath(path), fmt.Sprintf(`{"agentType":"mate","description":"do part one","name":"mate","requestShape":"background","taskKind":%q,"teamName":%q}`, taskInProcess, teamName), at)
		return path
	}
	team := func(pid int, ticks string, teammates ...string) {
		text := ""
		for _, m := range append([]string{"team-lead"}, teammates...) {
			text += fmt.Sprintf(`,{"name":%q,"backendType":"in-process"}`, m)
		}
		writeAt(t, filepath.Join(dir, teamsName, teamName, teamConfig), fmt.Sprintf(
			`{"name":%q,"leadSessionId":%q,"leadProcess":{"pid":%d,"procStart":%q},"members":[%s]}`, teamName, alive, pid, ticks, text[1:],
		), at)
	}
	teammates := func() (out []discover.Claim) {
		for _, c := range sessions(claims(t, dir, f)) {
			if c.Session != lead {
				out = append(out, c)
			}
		}
		return out
	}
	write("agent-amate-00", true, at) // has been sent away
	path := write("agent-amate-01", false, at.Add(time.Minute))
	team(500, "5000", "mate")
	if got := teammates(); len(got) != 1 || got[0].Path != path || got[0].Kind != "team" || got[0].Strength != discover.Exact || got[0].Turn == nil || got[0].Turn.State != discover.TurnOpen {
		t.Errorf("at work: %+v", got)
	}
	write("agent-amate-01", true, at.Add(time.Minute))
	if got := teammates(); len(got) != 1 || got[0].Path != path || got[0].Turn != nil {
		t.Errorf("idle: %+v", got)
	}
	all, _ := records(t, dir, discover.EntryFilter{ID: "agent-amate-01", Subagents: true}, discover.ReadOptions{})
	if len(all) != 1 || !all[0].IsSubagent() || all[0].Parent != lead || all[0].Team != teamName || all[0].Title != "mate" {
		t.Errorf("records %+v", all)
	}
	for when, write := range map[string]func(){
		"sent away":                      func() { team(500, "5000") },
		"the team of another process":    func() { team(501, "5000", "mate") },
		"the team of an earlier process": func() { team(500, "4999", "mate") },
		"no team":                        func() { must.Do(t, os.RemoveAll(filepath.Join(dir, teamsName))) },
	} {
		if write(); len(teammates()) != 0 {
			t.Errorf("%s: %+v", when, teammates())
		}
	}
}

// A session that leads a team with teammates in terminals says that it is busy, whatever it does. Its transcript tells.
func TestLeadOfATeamIsNotAlwaysBusy(t *testing.T) {
	dir := t.TempDir()
	f := native329(500, 5000, dir, "/w")
	f.Environ = map[string]string{configKey: dir}
	writeAt(t, transcriptPath(dir, "/w", lead), minimal, f.Started.Add(time.Minute))
	writeEntry(t, dir, 500, fmt.Sprintf(`"sessionId":%q,"procStart":"5000","version":"2.1.332","status":"busy"`, lead))
	for backend, open := range map[string]bool{inProcess: true, "tmux": false} {
		writeAt(t, filepath.Join(dir, teamsName, teamName, teamConfig), fmt.Sprintf(
			`{"name":%q,"leadProcess":{"pid":500,"procStart":"5000"},"members":[{"name":"mate","backendType":%q}]}`, teamName, backend,
		), f.Started)
		got := sessions(claims(t, dir, f))
		if len(got) != 1 || (got[0].Turn != nil) != open {
			t.Errorf("%s: %+v", backend, got)
		}
	}
}
