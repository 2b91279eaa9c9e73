package opencode

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/tests/must"
	"agentctl/tests/proctest"
)

// lateStore is a store with one session of a terminal interface, and a log with the lines that the interface wrote at its start.
type lateStore struct {
	t       *testing.T
	dir, id string
	begun   time.Time
	log     string
	offsets map[int]int64
}

func newLateStore(t *testing.T, ago time.Duration) *lateStore {
	t.Helper()
	l := &lateStore{t: t, dir: restore(t, "tui-perm-pending"), begun: time.Now().Add(-ago), offsets: map[int]int64{}}
	old := sessions(claimed(t, silent(agent(1, at(t, "19:20:30")), unloggedIn(t, l.dir)))[1])[0]
	l.id = fmt.Sprintf("%s%012x%s", sessionPrefix, ^idTime(l.begun)&idTimeMask, "aaaaaaaaaaaaaa")
	l.execute(
		fmt.Sprintf("update session set id = '%s', time_created = %d where id = '%s'", l.id, l.begun.UnixMilli(), old),
		fmt.Sprintf("update message set session_id = '%s' where session_id = '%s'", l.id, old),
		fmt.Sprintf("update part set session_id = '%s' where session_id = '%s'", l.id, old),
	)
	return l
}

// unloggedIn empties the log of a data folder: it does not say which process created the sessions.
func unloggedIn(t *testing.T, dir string) string {
	t.Helper()
	writeFile(t, filepath.Join(dir, "log", "opencode.log"), nil)
	return dir
}

func (l *lateStore) execute(statements ...string) {
	l.t.Helper()
	execute(l.t, filepath.Join(l.dir, "opencode.db"), statements...)
}

// writes adds a line of a process to the log; the PID is 0 for one that is gone.
func (l *lateStore) writes(pid int, at time.Time, message string) {
	l.log += fmt.Sprintf("timestamp=%s level=INFO run=%08d message=%s\n", at.UTC().Format("2006-01-02T15:04:05.000Z"), pid, message)
	l.offsets[pid] = int64(len(l.log))
}

// process returns a live process that began an hour ago in the session's directory and has written its lines in the log.
func (l *lateStore) process(pid int, args ...string) proctest.Process {
	return withLog(agent(pid, time.Now().Add(-time.Hour), args...), l.dir, l.offsets[pid])
}

// joined returns the session, correlated with these live processes.
func (l *lateStore) joined(processes ...proctest.Process) discover.Session {
	l.t.Helper()
	writeFile(l.t, filepath.Join(l.dir, "log", "opencode.log"), []byte(l.log))
	var claims []discover.Claim
	for _, list := range claimed(l.t, processes...) {
		claims = append(claims, list...)
	}
	records, err := readRecords(l.t, homeOf(l.dir), discover.EntryFilter{}, discover.ReadOptions{})
	if err != nil {
		l.t.Fatal(err)
	}
	all := discover.Correlate(proctest.NewTable(processes...), claims, records)
	i := slices.IndexFunc(all, func(s discover.Session) bool { return s.ID == l.id })
	if i < 0 {
		l.t.Fatalf("no session %s", l.id)
	}
	return all[i]
}

func (l *lateStore) expect(status discover.Status, pid int, processes ...proctest.Process) {
	l.t.Helper()
	s := l.joined(processes...)
	got := 0
	if len(s.Processes) > 0 {
		got = s.Processes[0].ID.PID
	}
	if s.Status != status || got != pid || len(s.Processes) > 1 {
		l.t.Errorf("%s in %v, want %s in %d\n%+v", s.Status, s.Processes, status, pid, s.Evidence)
	}
}

const started = "init"

// A session that began after the last line of a process may be that process's, also if its log names others.
func TestASessionThatTheLogDoesNotNameYet(t *testing.T) {
	for name, args := range map[string][]string{"terminal": nil, "server": {"serve"}} {
		t.Run(name, func(t *testing.T) {
			l := newLateStore(t, 0)
			l.writes(1, l.begun.Add(-time.Minute), started)
			l.expect(discover.Idle, 1, l.process(1, args...))

			l.writes(1, l.begun.Add(-time.Second), "loop session.id=ses_e05988da6ffeaSNInL2Awlo4TA")
			l.execute("insert into session (id, project_id, slug, directory, title, version, time_created, time_updated) " +
				"select 'ses_e05988da6ffeaSNInL2Awlo4TA', project_id, slug, directory, title, version, 1, 1 from session limit 1")
			l.expect(discover.Idle, 1, l.process(1, args...))
		})
	}
}

// A session has stopped as soon as the log can show that no live process runs it, and in any case after [maxFlushDelay].
func TestASessionThatTheLogWouldName(t *testing.T) {
	l := newLateStore(t, maxFlushDelay)
	l.writes(1, l.begun.Add(-time.Minute), started)
	l.expect(discover.Stopped, 0, l.process(1))
	l.expect(discover.Stopped, 0, l.process(1, "serve"))

	l = newLateStore(t, 2*flushSlack)
	l.writes(1, l.begun.Add(flushSlack+time.Second), "something else")
	l.expect(discover.Stopped, 0, l.process(1))

	l = newLateStore(t, 0) // another run, which is gone, created it
	l.writes(1, l.begun.Add(-time.Minute), started)
	l.writes(0, l.begun, "created id="+l.id)
	l.expect(discover.Stopped, 0, l.process(1))
	l.expect(discover.Stopped, 0, l.process(1, "serve"))

	l = newLateStore(t, 0) // a terminal interface in another directory, and one that began later
	l.writes(1, l.begun.Add(-time.Minute), started)
	away, later := l.process(1), l.process(1)
	away.WorkingDir, later.Started = "/elsewhere", time.Now().Add(time.Minute)
	l.expect(discover.Stopped, 0, away)
	l.expect(discover.Stopped, 0, later)
}

// A session that several processes may have begun is unknown, and so is one that a headless run may have begun that is gone.
func TestWhoBeganASessionIsAmbiguous(t *testing.T) {
	l := newLateStore(t, 0)
	l.writes(1, l.begun.Add(-time.Minute), started)
	l.writes(2, l.begun.Add(-time.Minute), started)
	l.expect(discover.Unknown, 0, l.process(1), l.process(2, "serve"))
	l.expect(discover.Unknown, 0, l.process(1), l.process(2))

	l.execute(`update session set permission = '[{"permission":"question","action":"deny","pattern":"*"}]'`)
	l.expect(discover.Stopped, 0, l.process(1)) // no terminal interface creates such a session
	l.expect(discover.Unknown, 0, l.process(2, "serve"))
	run := silent(agent(4, time.Now().Add(-10*time.Second), "run", "-f", "x"), l.dir)
	l.expect(discover.Running, 4, l.process(2, "serve"), run)
}

// A server may continue an old session.
func TestAnOldSessionThatIsPromptedNow(t *testing.T) {
	l := newLateStore(t, time.Hour)
	l.writes(1, time.Now().Add(-time.Minute), started)
	l.expect(discover.Stopped, 0, l.process(1, "serve"))
	now := time.Now()
	l.execute(fmt.Sprintf(`insert into message (id, session_id, time_created, time_updated, data) values ('msg_%012x%s', '%s', %d, %[4]d, '{"role":"user"}')`,
		idTime(now), strings.Repeat("a", 14), l.id, now.UnixMilli()))
	l.expect(discover.Running, 1, l.process(1, "serve"))
}

// A sub-agent that has just begun runs in the process of its session.
func TestASubAgentThatTheLogDoesNotNameYet(t *testing.T) {
	l := newLateStore(t, 0)
	const parent = "ses_e05988da6ffeaSNInL2Awlo4TA"
	l.execute("insert into session (id, project_id, slug, directory, title, version, time_created, time_updated) "+
		"select '"+parent+"', project_id, slug, directory, title, version, 1, 1 from session limit 1", "update session set parent_id = '"+parent+"' where id <> '"+parent+"'")
	l.writes(1, l.begun.Add(-time.Second), "loop session.id="+parent)
	l.writes(2, l.begun.Add(-time.Minute), started)
	writeFile(t, filepath.Join(l.dir, "log", "opencode.log"), []byte(l.log))
	for pid, claims := range claimed(t, l.process(1), l.process(2)) {
		if got := slices.Contains(sessions(claims), l.id); got != (pid == 1) {
			t.Errorf("process %d claims the sub-agent: %v", pid, got)
		}
	}
}

// silent makes a process one that logs only errors, so that its log names no session.
func silent(f proctest.Process, dir string) proctest.Process {
	f = withLog(f, dir, 0)
	f.Arguments = append(f.Arguments, "--log-level", "ERROR")
	return f
}

func only(t *testing.T, claims []discover.Claim, id, kind string, strength discover.Strength) {
	t.Helper()
	if len(claims) != 2 || claims[1].Session != id || claims[1].Kind != kind || claims[1].Strength != strength {
		t.Errorf("claims %+v\nwant %s %s for %s", claims, strength, kind, id)
	}
}

func TestSessionInArguments(t *testing.T) {
	dir := restore(t, "multi-run-midturn")
	const id = "ses_e0595f6a4ffeSH5QxP6vSaS9k3"
	start := at(t, "19:23:33")
	only(t, claimed(t, silent(agent(1, start, "run", "-s", id, "more"), dir))[1], id, "argv", discover.Exact)
	only(t, claimed(t, silent(agent(1, start, "--session="+id), dir))[1], id, "argv", discover.Strong)
	for _, args := range [][]string{{"run", "-s", id, "--fork", "x"}, {"run", "-s", "ses_none", "x"}, {"-s", "../" + id}} {
		if claims := claimed(t, silent(agent(1, at(t, "23:00:00"), args...), dir))[1]; len(claims) != 1 {
			t.Errorf("%v: %+v", args, claims)
		}
	}
}

// By directory and time alone, there is one weak claim for each session that fits.
func TestUnloggedByDirectory(t *testing.T) {
	dir := unloggedIn(t, restore(t, "multi-run-midturn"))
	weak := func(f proctest.Process) (n int) {
		for _, c := range claimed(t, f)[f.ID.PID] {
			if c.Session != "" && c.Strength == discover.Weak && c.Kind == "log-late" {
				n++
			}
		}
		return n
	}
	start := at(t, "19:23:33") // five of the six began since
	if n := weak(silent(agent(1, start, "run", "hi"), dir)); n != 5 {
		t.Errorf("run: %d weak claims, want 5", n)
	}
	if n := weak(silent(agent(1, start), dir)); n != 0 {
		t.Errorf("TUI: %d weak claims for sessions of `run`", n)
	}
	if n := weak(silent(agent(1, at(t, "19:20:00"), "run", "hi"), dir)); n != 0 {
		t.Errorf("long before: %d weak claims", n)
	}
	if n := weak(silent(agent(1, start, "serve"), dir)); n != 0 {
		t.Errorf("server: %d weak claims", n)
	}
	away := silent(agent(1, start, "run", "hi"), dir)
	away.WorkingDir = "/srv/opencode-lab/proj"
	if n := weak(away); n != 0 {
		t.Errorf("elsewhere: %d weak claims", n)
	}
}

// A headless process does not run a session that another process created by the log, although directory and time fit, nor one that is older
// than itself.
func TestNotUnloggedIfAnotherProcessRanIt(t *testing.T) {
	for name, dir := range map[string]string{
		"made by others": restore(t, "multi-run-midturn"), "before": unloggedIn(t, restore(t, "multi-run-midturn")),
	} {
		start := at(t, "19:23:33")
		if name == "before" {
			start = at(t, "19:23:36")
		}
		if claims := claimed(t, silent(agent(1, start, "run", "hi"), dir))[1]; len(claims) != 1 {
			t.Errorf("%s: %+v", name, claims)
		}
	}
}

// A terminal interface whose log names no session runs none, whichever sessions began in its directory since.
func TestNothingToInfer(t *testing.T) {
	dir := restore(t, "tui-perm-pending")
	writeFile(t, filepath.Join(dir, "log", "opencode.log"), []byte("timestamp=2026-11-20T19:20:31.000Z level=INFO run=aaaaaaaa message=init\n"))
	claims := claimed(t, withLog(agent(1, at(t, "19:20:30")), dir, 72))[1]
	if len(claims) != 1 || claims[0].Turn == nil || claims[0].Turn.State != discover.TurnNone {
		t.Errorf("claims %+v", claims)
	}
	claims = claimed(t, silent(agent(1, at(t, "19:20:30")), dir))[1]
	if len(claims) != 2 || claims[1].Strength != discover.Weak {
		t.Errorf("without a log: %+v", claims)
	}
}

// A session that a process of an older version than supported may run is not called stopped, wherever it is stored.
func TestSessionOfOutdatedProcess(t *testing.T) {
	files := capture(t, "json-1.1.65-run-midturn-then-killed")
	database := restore(t, "tui-perm-pending")
	for name, c := range map[string]struct {
		dir, clock string
		args       []string
	}{
		"run, JSON files":  {files, "19:22:25", []string{"run", "x"}},
		"server, database": {database, "19:20:30", []string{"serve"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := agent(1, at(t, c.clock), c.args...)
			f.Exe = filepath.Join(t.TempDir(), "opencode-linux-x64", "bin", "opencode")
			writeFile(t, filepath.Join(mkdir(t, filepath.Dir(filepath.Dir(f.Exe))), "package.json"), []byte(`{"name":"opencode-linux-x64","version":"1.1.65"}`))
			f.Environ = map[string]string{"XDG_DATA_HOME": filepath.Dir(c.dir)}
			records, err := readRecords(t, homeOf(c.dir), discover.EntryFilter{}, discover.ReadOptions{})
			must.Do(t, err)
			f.WorkingDir = records[0].Dir
			for _, s := range discover.Correlate(proctest.NewTable(f), claimed(t, f)[1], records) {
				if want := s.ID == records[0].ID; (s.Status == discover.Unknown) != want || want && !strings.Contains(s.Reason, "1.1.65 is older than supported") {
					t.Errorf("%s: %s, %s", s.ID, s.Status, s.Reason)
				}
			}
		})
	}
}
