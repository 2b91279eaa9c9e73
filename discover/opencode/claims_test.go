package opencode

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/proc"
	"agentctl/tests/must"
	"agentctl/tests/proctest"
)

// at returns a time on the day on which the dumps were captured, in UTC.
func at(t testing.TB, clock string) time.Time {
	t.Helper()
	when, err := time.Parse(time.DateTime, "2026-11-20 "+clock)
	must.Do(t, err)
	return when
}

// shell is the parent of agents. No table has it.
const shell = 1000

// agent returns a live process of the agent in the project of the dumps.
func agent(pid int, started time.Time, args ...string) proctest.Process {
	return proctest.Process{
		Process: proc.Process{
			ID: proc.ID{PID: pid, Birth: "boot/" + started.Format("150405")}, Parent: shell, State: 'S',
			Name: "opencode", Exe: "/opt/opencode/bin/opencode", Started: started,
		},
		Arguments: append([]string{"opencode"}, args...), WorkingDir: "/srv/opencode-lab/proj/git1",
	}
}

// withLog gives a process a data folder, and the log there, which it has written up to the offset.
func withLog(f proctest.Process, dir string, offset int64) proctest.Process {
	f.Environ = map[string]string{"XDG_DATA_HOME": filepath.Dir(dir)}
	f.Files = []proc.OpenFile{
		{FD: 7, Path: filepath.Join(dir, "opencode.db"), Writable: true},
		{FD: 12, Path: filepath.Join(dir, "log", "opencode.log"), Writable: true},
		{FD: 13, Path: filepath.Join(dir, "log", "opencode.log"), Writable: true, Offset: offset},
	}
	return f
}

// claimed returns the claims for a process table, by process. Homes are found as usual.
func claimed(t testing.TB, processes ...proctest.Process) map[int][]discover.Claim {
	t.Helper()
	table := proctest.NewTable(processes...)
	setup := discover.HomeSources{Getenv: func(string) string { return "" }}
	claims, err := New().Claims(t.Context(), table, New().Homes(setup, table))
	if err != nil {
		t.Error(err)
	}
	out := map[int][]discover.Claim{}
	for _, c := range claims {
		out[c.Process.PID] = append(out[c.Process.PID], c)
	}
	return out
}

// sessions returns the session IDs of claims.
func sessions(claims []discover.Claim) (ids []string) {
	for _, c := range claims {
		if c.Session != "" {
			ids = append(ids, c.Session)
		}
	}
	slices.Sort(ids)
	return ids
}

// Four headless processes run in one directory. The offset of each in the log shows its session.
func TestLogOffset(t *testing.T) {
	dir := restore(t, "fdpos")
	start := at(t, "19:26:50")
	got := claimed(
		t,
		withLog(agent(16703, start, "run", "[[bash sleep 20; true;;text fin]]"), dir, 20219),
		withLog(agent(16706, start, "run", "[[task ..]]"), dir, 21361),
	)
	for pid, want := range map[int][]string{
		16703: {"ses_e0592f1c3fferjqNVsEgBbvV83"},
		16706: {"ses_e0592c293ffeqrlHUFQ0Drn7wA", "ses_e0592eee2ffexP0Ea9f6TGXebt"}, // the first is its sub-agent
	} {
		if ids := sessions(got[pid]); !slices.Equal(ids, want) {
			t.Errorf("%d: sessions %v, want %v", pid, ids, want)
		}
		for _, c := range got[pid] {
			switch {
			case c.Home != dir || c.Source != "run" || c.Shared:
				t.Errorf("%d: %+v", pid, c)
			case c.Session != "" && (c.Strength != discover.Exact || c.Kind != "log-offset" || c.Path != filepath.Join(dir, "opencode.db")):
				t.Errorf("%d: %+v", pid, c)
			}
		}
	}
}

// Lines of a run that are older than the process are another process's.
func TestLogOfEarlierProcess(t *testing.T) {
	dir := restore(t, "fdpos")
	got := claimed(t, withLog(agent(5, at(t, "20:26:50"), "run", "x"), dir, 20219))
	if ids := sessions(got[5]); len(ids) != 0 {
		t.Errorf("claims %v", ids)
	}
}

// A log that was removed is read through the process that has it open.
func TestDeletedLog(t *testing.T) {
	dir := restore(t, "fdpos")
	kept := filepath.Join(t.TempDir(), "fd")
	must.Do(t, os.Rename(filepath.Join(dir, "log", "opencode.log"), kept))
	p := withLog(agent(1, at(t, "19:26:50"), "run", "x"), dir, 20219)
	p.Files[2].Deleted, p.Files[2].Proc = true, kept
	if ids := sessions(claimed(t, p)[1]); !slices.Equal(ids, []string{"ses_e0592f1c3fferjqNVsEgBbvV83"}) {
		t.Errorf("got %v", ids)
	}
}

// A session that the log names and that is missing in a readable store was deleted. In an unreadable store, it may exist.
func TestDeletedSession(t *testing.T) {
	dir := restore(t, "fdpos")
	p := withLog(agent(1, at(t, "19:26:50"), "run", "x"), dir, 20219)
	execute(t, filepath.Join(dir, "opencode.db"), "delete from session")
	if ids := sessions(claimed(t, p)[1]); len(ids) != 0 {
		t.Errorf("deleted: %v", ids)
	}
	writeFile(t, filepath.Join(dir, "opencode.db"), []byte("no database any more, but the process lives"))
	table := proctest.NewTable(p)
	claims, err := New().Claims(t.Context(), table, homeOf(dir))
	oneWarning(t, err, filepath.Join(dir, "opencode.db"))
	if ids := sessions(claims); !slices.Equal(ids, []string{"ses_e0592f1c3fferjqNVsEgBbvV83"}) || claims[1].Path != "" || claims[1].Dir == "" {
		t.Errorf("unreadable: %+v", claims)
	}
}

// The store of a process in a container is not the one with its path on the host. Its log is read through the process.
func TestProcessInContainer(t *testing.T) {
	dir := restore(t, "fdpos")
	execute(t, filepath.Join(dir, "opencode.db"), "delete from session")
	p := withLog(agent(1, at(t, "19:26:50"), "run", "x"), dir, 20219)
	p.NSPIDs, p.OtherRoot = []int{1, 7}, true
	claims := claimed(t, p)[1]
	if len(claims) != 2 || claims[1].Session != "ses_e0592f1c3fferjqNVsEgBbvV83" || claims[1].Path != "" {
		t.Errorf("claims %+v", claims)
	}
}

// A claim names the database that the process has open, not one with a copy of the session beside it.
func TestCopyInAnotherDatabase(t *testing.T) {
	dir := restore(t, "fdpos")
	writer := withLog(agent(1, at(t, "19:26:50"), "run", "x"), dir, 20219)
	raw, err := os.ReadFile(filepath.Join(dir, "opencode.db"))
	must.Do(t, err)
	for _, name := range []string{"opencode-stable.db", "opencode_backup.db"} {
		writeFile(t, filepath.Join(dir, name), raw)
	}
	linked := filepath.Join(t.TempDir(), "linked")
	must.Do(t, os.Symlink(dir, linked))
	for open, want := range map[string]string{
		filepath.Join(dir, "opencode.db"): "opencode.db", filepath.Join(dir, "opencode-stable.db"): "opencode-stable.db", filepath.Join(linked, "opencode.db"): "opencode.db",
	} {
		writer.Files[0].Path = open
		for _, c := range claimed(t, writer)[1] {
			if c.Session != "" && c.Path != filepath.Join(dir, want) {
				t.Errorf("has %s open: %s of %s", open, c.Session, c.Path)
			}
		}
	}
}

func TestNoSessionProcesses(t *testing.T) {
	dir := restore(t, "fdpos")
	start := at(t, "19:26:50")
	bun := withLog(agent(20, start, "run", "/x/pyright-langserver", "--stdio"), dir, 20219)
	bun.Environ["BUN_BE_BUN"] = "1"
	zombie := withLog(agent(21, start, "run", "x"), dir, 20219)
	zombie.State = 'Z'
	launcher := agent(22, start, "/opt/node_modules/.bin/opencode", "run", "x")
	launcher.Name, launcher.Exe, launcher.Arguments[0] = "node", "/usr/bin/node", "node"
	gone := withLog(agent(23, start, "run", "x"), dir, 20219)
	gone.Err = proc.ErrGone
	processes := []proctest.Process{bun, zombie, launcher, gone}
	for i, args := range [][]string{
		{"run", "--attach", "http://127.0.0.1:4096", "hi"},
		{"attach", "http://127.0.0.1:4096"},
		{"session", "list"},
		{"export", "ses_1"},
		{"stats"},
		{"--help"},
		{"run", "--version"},
		{"mcp", "list"},
		{"--log-level", "DEBUG", "models"},
	} {
		processes = append(processes, withLog(agent(30+i, start, args...), dir, 20219))
	}
	if got := claimed(t, processes...); len(got) != 0 {
		t.Errorf("claims of processes that run no session: %+v", got)
	}
}

// A child of the agent with the same arguments has not called exec yet.
func TestHelpers(t *testing.T) {
	dir := restore(t, "fdpos")
	start := at(t, "19:26:50")
	below := func(parent int, f proctest.Process) proctest.Process {
		f.Parent = parent
		return f
	}
	got := claimed(
		t, withLog(agent(40, start), dir, 0), withLog(agent(50, start, "run", "x"), dir, 0),
		below(40, withLog(agent(42, start), dir, 0)), below(40, withLog(agent(43, start, "serve"), dir, 0)),
		below(50, withLog(agent(51, start, "run", "x"), dir, 0)), below(50, withLog(agent(52, start, "run", "y"), dir, 0)),
	)
	if pids := slices.Sorted(maps.Keys(got)); !slices.Equal(pids, []int{40, 43, 50, 52}) {
		t.Errorf("claims of the processes %v", pids)
	}
}

func TestPresence(t *testing.T) {
	dir := restore(t, "archived")
	start := at(t, "20:00:00")
	hidden := agent(4, start, "run", "x")
	hidden.Exe, hidden.Arguments, hidden.Err = "", nil, os.ErrPermission
	serve := withLog(agent(3, start, "serve", "--port", "4301"), dir, 0)
	serve.Ports = []int{4301}
	got := claimed(t, withLog(agent(1, start), dir, 0), withLog(agent(2, start, "run", "hi"), dir, 0), serve, hidden)
	for pid, want := range map[int]discover.Claim{
		1: {Source: "tui", Turn: &discover.Turn{State: discover.TurnNone}},
		2: {Source: "run", Turn: &discover.Turn{State: discover.TurnOpen}},
		3: {Source: "server", Shared: true, HideIfUnlinked: true},
		4: {Source: "tui", Unreadable: "its environment and open files: permission denied"},
	} {
		if len(got[pid]) != 1 {
			t.Fatalf("%d: %+v", pid, got[pid])
		}
		c := got[pid][0]
		turn := c.Turn == nil && want.Turn == nil || c.Turn != nil && want.Turn != nil && *c.Turn == *want.Turn
		if c.Session != "" || c.Source != want.Source || c.Shared != want.Shared || c.HideIfUnlinked != want.HideIfUnlinked || !turn || c.Unreadable != want.Unreadable {
			t.Errorf("%d: %+v, want %+v", pid, c, want)
		}
	}
	if ports, _ := got[3][0].Meta["ports"].([]int); !slices.Equal(ports, []int{4301}) || got[3][0].Meta["command"] != "serve" {
		t.Errorf("server: %v", got[3][0].Meta)
	}
}

// A terminal interface that was started with a session, and whose log names none, waits for a prompt, also if another process has the
// session.
func TestATerminalThatShowsASession(t *testing.T) {
	const id = "ses_e05988da6ffeaSNInL2Awlo4TA"
	dir := capture(t, "raw-tui-permission-pending")
	log := lineStart + "message=init\n"
	writeFile(t, filepath.Join(mkdir(t, filepath.Join(dir, "log")), "opencode.log"), []byte(log))
	for offset, waits := range map[int64]bool{int64(len(log)): true, 0: false} {
		claims := claimed(t, withLog(agent(1, at(t, "19:26:30"), "-s", id), dir, offset))[1]
		if len(claims) != 2 || claims[1].Session != id || claims[1].Strength != discover.Strong {
			t.Fatalf("claims %+v", claims)
		}
		if turn := claims[0].Turn; (turn != nil && turn.State == discover.TurnNone) != waits {
			t.Errorf("with the log up to %d: the process shows %+v", offset, turn)
		}
	}
}

// A server's sessions are those of its run. One process has all of them.
func TestServer(t *testing.T) {
	dir := restore(t, "multi-run-midturn")
	log, err := os.ReadFile(filepath.Join(dir, "log", "opencode.log"))
	must.Do(t, err)
	p := withLog(agent(9, at(t, "19:23:00"), "serve"), dir, int64(len(log)))
	claims := claimed(t, p)[9]
	if !claims[0].HideIfUnlinked || len(sessions(claims)) == 0 {
		t.Errorf("claims %+v", claims)
	}
	for _, c := range claims {
		if !c.Shared || c.Source != "server" {
			t.Errorf("claim %+v", c)
		}
	}
}

// The call of a shell command that waits for permission is stored, but has neither reported nor started a process.
func TestPermissionPending(t *testing.T) {
	dir := capture(t, "raw-tui-permission-pending")
	log := filepath.Join(dir, "opencode.log")
	must.Do(t, os.Rename(log, filepath.Join(mkdir(t, filepath.Join(dir, "log")), "opencode.log")))
	tui := withLog(agent(1, at(t, "19:20:30")), dir, 4752)
	const id = "ses_e05988da6ffeaSNInL2Awlo4TA"
	claims := claimed(t, tui)[1]
	if ids := sessions(claims); !slices.Equal(ids, []string{id}) {
		t.Fatalf("sessions %v", ids)
	}
	if turn := claims[1].Turn; turn == nil || turn.State != discover.TurnWaiting || turn.WaitingFor != "permission" {
		t.Errorf("turn %+v", turn)
	}
	child := proctest.Process{
		Process: proc.Process{
			ID: proc.ID{PID: 2, Birth: "b"}, Parent: 1, State: 'S', Name: "sleep", Exe: "/usr/bin/sleep",
		},
		Arguments: []string{"sleep", "33"}, WorkingDir: "/srv/opencode-lab/proj/git1",
	}
	if turn := claimed(t, tui, child)[1][1].Turn; turn != nil {
		t.Errorf("with its command at work: turn %+v", turn)
	}
	later := withLog(agent(1, at(t, "23:00:00"), "-s", id), dir, 0)
	if claims := claimed(t, later)[1]; len(claims) != 2 || claims[1].Session != id || claims[1].Turn != nil {
		t.Errorf("of who goes on with it after a kill: %+v", claims)
	}
}

// The log has the end of a turn earlier than the store, or only the log has it.
func TestTurnEndedByLog(t *testing.T) {
	dir := capture(t, "raw-tui-permission-pending")
	log, err := os.ReadFile(filepath.Join(dir, "opencode.log"))
	must.Do(t, err)
	run := parseLogLine(log).run
	const id = "ses_e05988da6ffeaSNInL2Awlo4TA"
	log = append(log, "timestamp=2026-11-20T19:25:00.000Z level=INFO run="+run+` message="exiting loop" session.id=`+id+"\n"...)
	writeFile(t, filepath.Join(mkdir(t, filepath.Join(dir, "log")), "opencode.log"), log)
	claims := claimed(t, withLog(agent(1, at(t, "19:20:30")), dir, int64(len(log))))[1]
	if len(claims) != 2 || claims[1].Turn == nil || claims[1].Turn.State != discover.TurnDone {
		t.Errorf("claims %+v", claims)
	}
}

// If a sub-agent waits for the user, its parent waits too: by the process of both.
func TestWaitingChild(t *testing.T) {
	now := time.Now().UnixMilli()
	part := func(tool, more string) string {
		return fmt.Sprintf(`{"type":"tool","tool":%q,"state":{"status":"running"%s,"time":{"start":%d}}}`, tool, more, now-60_000)
	}
	for tool, want := range map[string]string{"question": "question", "bash": "permission"} {
		dir := mkdir(t, filepath.Join(t.TempDir(), "opencode"))
		execute(t, filepath.Join(dir, "opencode.db"),
			"create table session(id text primary key, parent_id, directory, time_created, time_updated)",
			"create table message(id text primary key, session_id text, time_created, time_updated, data)",
			"create table part(id text primary key, message_id text, time_updated, data)",
			fmt.Sprintf("insert into session values ('ses_parent', '', '/x', %[1]d, %[1]d), ('ses_child', 'ses_parent', '/x', %[1]d, %[1]d)", now),
			fmt.Sprintf(`insert into message values ('msg_1', 'ses_parent', %[1]d, 0, '{"role":"assistant"}'), ('msg_2', 'ses_child', %[1]d, 0, '{"role":"assistant"}')`, now),
			"insert into part values ('prt_1', 'msg_1', 0, '"+part("task", `,"metadata":{"sessionId":"ses_child"}`)+"'), ('prt_2', 'msg_2', 0, '"+part(tool, "")+"')",
		)
		records, err := readRecords(t, homeOf(dir), discover.EntryFilter{}, discover.ReadOptions{})
		if err != nil || len(records) != 1 {
			t.Errorf("%s: %+v, %v", tool, records, err)
		}
		p := withLog(agent(1, time.Now().Add(-time.Hour), "-s", "ses_parent"), dir, 0)
		got := map[string]string{}
		for _, c := range claimed(t, p)[1] {
			if turn := c.Turn; turn != nil {
				got[c.Session] = turn.WaitingFor
			} else if tool == "question" && c.Session == "ses_child" {
				got[c.Session] = "question" // from the record
			}
		}
		if got["ses_parent"] != want || got["ses_child"] != want {
			t.Errorf("%s: waiting for %v", tool, got)
		}
	}
}

// A client of a server may show any of its sessions; with -s that one, and what has been prompted since.
func TestClientsOfAServer(t *testing.T) {
	const main, other = "ses_e0592eee2ffexP0Ea9f6TGXebt", "ses_e0592f1c3fferjqNVsEgBbvV83"
	dir := restore(t, "fdpos")
	server := withLog(agent(1, at(t, "19:26:50"), "serve"), dir, 21361)
	server.Ports = []int{4096}
	for name, c := range map[string]struct {
		started string
		args    []string
		shows   bool
	}{
		"any":            {"20:00:00", []string{"attach", "http://localhost:4096"}, true},
		"this one":       {"20:00:00", []string{"attach", "http://127.0.0.1:4096", "-s", main}, true},
		"another one":    {"20:00:00", []string{"attach", "http://127.0.0.1:4096", "-s", other}, false},
		"another before": {"19:26:51", []string{"attach", "http://127.0.0.1:4096", "-s", other}, true},
		"another server": {"20:00:00", []string{"attach", "http://127.0.0.1:4097"}, false},
		"IPv6":           {"20:00:00", []string{"attach", "http://[::1]:4096"}, true},
		"another host":   {"20:00:00", []string{"attach", "http://build.invalid:4096"}, false},
		"its address":    {"20:00:00", []string{"attach", "http://192.0.2.7:4096"}, false},
		"not open":       {"20:00:00", []string{"attach", "http://127.0.0.1:4096"}, false},
		"a run":          {"20:00:00", []string{"run", "--attach", "http://127.0.0.1:4096", "hi"}, false},
	} {
		client := withLog(agent(2, at(t, c.started), c.args...), dir, 0)
		client.Files = client.Files[1:] // a client has no database
		if name == "not open" {
			client.Files = nil
		} else {
			client.Name, client.Exe = "oc", "/srv/bin/oc"
		}
		table := proctest.NewTable(server, client).Thorough()
		claims, err := New().Claims(t.Context(), table, homeOf(dir))
		if err != nil {
			t.Error(err)
		}
		var shown []string
		for _, claim := range claims {
			if claim.Process.PID != 2 {
				continue
			}
			if shown = append(shown, claim.Session); !claim.Client || claim.Strength != discover.Weak {
				t.Errorf("%s: %+v", name, claim)
			}
		}
		if want := []string{main}; c.shows && !slices.Equal(shown, want) || !c.shows && len(shown) > 0 {
			t.Errorf("%s: shows %q", name, shown)
		}
	}
}

// A terminal interface that listens and runs several sessions may show each of them.
func TestTerminalMayShowItsSessions(t *testing.T) {
	table := proctest.NewTable(agent(1, at(t, "12:00:00"), "--port", "0"), agent(2, at(t, "12:00:00"), "serve"))
	for pid, want := range map[int]int{1: 1, 2: 0} {
		p, _ := table.ByPID(pid)
		sure, possible, err := New().FindClients(t.Context(), discover.Session{Record: &discover.Record{}, Processes: []proc.Process{p}}, launch.Environment{})
		if len(sure) != 0 || len(possible) != want || err != nil {
			t.Errorf("%d: %v, %v, %v", pid, sure, possible, err)
		}
	}
}

// What holds a database and a log is the agent, whatever its program is called; what holds less is not.
func TestProcessesByWhatTheyHold(t *testing.T) {
	dir := restore(t, "fdpos")
	called := func(pid int, name string, args ...string) proctest.Process {
		f := withLog(agent(pid, at(t, "19:26:50"), append([]string{"run"}, args...)...), dir, 20219)
		f.Name, f.Exe, f.Arguments[0] = name, "/srv/bin/"+name, name
		return f
	}
	without := func(f proctest.Process, drop func(string) bool) proctest.Process {
		f.Files = slices.DeleteFunc(f.Files, func(o proc.OpenFile) bool { return drop(o.Path) })
		return f
	}
	readOnly := called(5, "backup")
	for i := range readOnly.Files {
		readOnly.Files[i].Writable = false
	}
	locked := called(6, "locked")
	for i := range locked.Files {
		locked.Files[i].ReadLocked = isDatabase(locked.Files[i].Path)
	}
	processes := []proctest.Process{
		called(1, ".opencode"), called(2, "my-opencode-raw"), called(3, "oc"),
		without(called(4, "sqlite3"), isLog), readOnly, locked,
		without(called(7, "oc", printLogs), isLog), without(called(8, "rsyslogd"), isDatabase),
	}
	table := proctest.NewTable(processes...)
	thorough := table.Thorough()
	for _, test := range []struct {
		table *proc.Table
		want  []int
	}{{table, []int{1, 2, 6}}, {thorough, []int{1, 2, 3, 6, 7}}} {
		claims, err := New().Claims(t.Context(), test.table, homeOf(dir))
		if err != nil {
			t.Error(err)
		}
		var pids []int
		for _, c := range claims {
			if c.Session == "" {
				pids = append(pids, c.Process.PID)
			}
		}
		if !slices.Equal(pids, test.want) {
			t.Errorf("thorough %v: presences of %v, want %v", test.table.IsThorough(), pids, test.want)
		}
	}
	for p := range table.All() {
		if got, want := New().IsAgentProcess(p), slices.Contains([]int{1, 2, 3, 6, 7}, p.ID.PID); got != want {
			t.Errorf("%d is the agent: %v", p.ID.PID, got)
		}
	}
}

// A lock leads to the process in a home that only another process names.
func TestHomeOfALockHolder(t *testing.T) {
	dir := restore(t, "fdpos")
	f := withLog(agent(1, at(t, "19:26:50"), "serve"), dir, 20219)
	f.Name, f.Exe, f.Arguments[0], f.Files[0].ReadLocked = "oc", "/srv/bin/oc", "oc", true
	f.Environ["OPENCODE_DB"] = "/srv/other.db"
	env := map[string]string{"XDG_DATA_HOME": filepath.Dir(dir)}
	got := New().Homes(discover.HomeSources{Getenv: func(k string) string { return env[k] }}, proctest.NewTable(f))
	if len(got) != 2 || got[1].Files[0] != "/srv/other.db" {
		t.Errorf("%+v", got)
	}
}

// A program of the agent's name that has opened nothing of the agent's may be another one.
func TestNameOnly(t *testing.T) {
	dir := restore(t, "fdpos")
	holds := withLog(agent(2, at(t, "19:26:50")), dir, 0)
	another := agent(1, at(t, "19:26:50"), "run", "-s", "ses_e0592f1c3fferjqNVsEgBbvV83")
	another.Environ = holds.Environ
	for _, c := range claimed(t, another, holds)[1] {
		if c.NameOnly != (c.Session == "") || c.Session != "" && c.Strength != discover.Strong {
			t.Errorf("%+v", c)
		}
	}
	for _, c := range claimed(t, holds)[2] {
		if c.NameOnly {
			t.Errorf("%+v", c)
		}
	}
}
