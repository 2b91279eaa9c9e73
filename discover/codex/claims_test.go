package codex

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/proc"
	"agentctl/tests/must"
	"agentctl/tests/proctest"
)

const (
	npmExe    = "/opt/npm/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"
	threadA   = "01a1fa5c-c285-7d91-bd0a-842a7d8b5424"
	threadB   = "01a1fa60-035d-7f13-870e-9f68aa312f76"
	nameA     = "rollout-2026-11-20T19-09-05-" + threadA + ".jsonl"
	nameB     = "rollout-2026-11-20T19-12-38-" + threadB + ".jsonl"
	inotify   = "anon_inode:inotify"
	eventpoll = "anon_inode:[eventpoll]"
)

// testHome is a home on disk, and a process table.
type testHome struct {
	t     *testing.T
	home  string
	facts []proctest.Process
	// thorough: the table is asked for what all processes have open. configured: the user names the home.
	thorough, configured bool
}

func newTestHome(t *testing.T) *testHome {
	t.Helper()
	return &testHome{t: t, home: filepath.Join(t.TempDir(), ".codex")}
}

// file writes a file in the home and returns its path.
func (w *testHome) file(name, content string) string {
	w.t.Helper()
	path := filepath.Join(w.home, name)
	must.Do(w.t, os.MkdirAll(filepath.Dir(path), 0o755))
	must.Do(w.t, os.WriteFile(path, []byte(content), 0o644))
	return path
}

func (w *testHome) rollout(name string) string {
	return w.file("sessions/2026/11/20/"+name, string(rollout(metaLine, startedLine, contextLine)))
}

func (w *testHome) lock(id string) proc.OpenFile {
	return proc.OpenFile{FD: 40, Path: w.file("thread-writer-locks/"+id+".lock", ""), Writable: true, WriteLocked: true}
}

// process adds a live process. Its open files are those that every Codex process has, unless files are given.
func (w *testHome) process(pid, parent int, exe string, args []string, files ...proc.OpenFile) *proctest.Process {
	w.facts = append(w.facts, proctest.Process{
		Process: proc.Process{
			ID: proc.ID{PID: pid, Birth: "boot/1"}, Parent: parent, UID: 1000, State: 'S', Name: filepath.Base(exe), Exe: exe,
		},
		Arguments: append([]string{exe}, args...), WorkingDir: "/w", Environ: map[string]string{"CODEX_HOME": w.home},
		Files: append(files, proc.OpenFile{Path: eventpoll}, logDB),
	})
	return &w.facts[len(w.facts)-1]
}

func (w *testHome) claims() []discover.Claim {
	w.t.Helper()
	table := proctest.NewTable(w.facts...)
	if w.thorough {
		table = table.Thorough()
	}
	sources := discover.HomeSources{Getenv: func(string) string { return "" }}
	if w.configured {
		sources.Configured = []string{w.home}
	}
	homes := New().Homes(sources, table)
	claims, err := New().Claims(w.t.Context(), table, homes)
	if err != nil {
		w.t.Error(err)
	}
	return claims
}

// describe formats claims as "pid session kind", presence claims without a session, each with its special fields.
func describe(claims []discover.Claim) []string {
	out := []string{}
	for _, c := range claims {
		words := []string{c.Process.String(), c.Session, c.Kind, c.Strength.String(), c.Source}
		for word, is := range map[string]bool{"shared": c.Shared, "empty": c.HideIfUnlinked, "on-disk": c.Path != "", "unreadable": c.Unreadable != "", "client": c.Client} {
			if is {
				words = append(words, word)
			}
		}
		slices.Sort(words[5:])
		if c.NameOnly {
			words = append(words, "name-only")
		}
		if c.Turn != nil {
			words = append(words, map[discover.TurnState]string{discover.TurnOpen: "open", discover.TurnNone: "none"}[c.Turn.State])
		}
		out = append(out, strings.Join(words, " "))
	}
	return out
}

func (w *testHome) expect(want ...string) {
	w.t.Helper()
	if got := describe(w.claims()); !slices.Equal(got, want) {
		w.t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// logDB is a file that every Codex process has open from its first moments on.
var logDB = proc.OpenFile{Path: "/h/.codex/logs_2.sqlite"}

func writing(path string) proc.OpenFile { return proc.OpenFile{FD: 41, Path: path, Writable: true} }

// An exec holds its thread's lock and has its rollout open for writing: two pieces of exact evidence.
func TestExecHasTwoExactClaims(t *testing.T) {
	w := newTestHome(t)
	w.process(7, 1, "/usr/bin/node", []string{"/opt/.bin/codex", "exec", "hi"})
	path := w.rollout(nameA)
	w.process(8, 7, npmExe, []string{"exec", "hi"}, w.lock(threadA), writing(path))
	w.expect("pid 8  process exact exec open", "pid 8 "+threadA+" writer-lock exact exec on-disk",
		"pid 8 "+threadA+" rollout-fd exact exec on-disk")
	for _, c := range w.claims()[1:] {
		if c.Path != path || c.Home != w.home || c.Turn != nil || c.Dir != "" {
			t.Errorf("claim %+v", c)
		}
	}
}

// A process of a version below the floor is a row that says so, and its rollout ties no session to it for sure.
func TestBelowFloor(t *testing.T) {
	for version, want := range map[string][]string{
		"0.129.0": {"pid 8  process exact exec unreadable open", "pid 8 " + threadA + " rollout-fd weak exec on-disk unreadable"},
		"0.130.0": {"pid 8  process exact exec open", "pid 8 " + threadA + " rollout-fd exact exec on-disk"},
	} {
		w := newTestHome(t)
		exe := w.file("node_modules/@openai/codex/vendor/x86_64-unknown-linux-musl/codex/codex", "")
		w.file("node_modules/@openai/codex/package.json", `{"version":"`+version+`"}`)
		path := w.file("sessions/2026/11/20/"+nameA, strings.ReplaceAll(string(rollout(metaLine, startedLine, contextLine)), someID, threadA))
		w.process(8, 1, exe, []string{"exec", "-"}, writing(path))
		w.expect(want...)
		sessions := discover.Correlate(proctest.NewTable(w.facts...), w.claims(), readHome(t, w.home, discover.ReadOptions{}))
		below := version == "0.129.0"
		if len(sessions) != 1 || (sessions[0].Status == discover.Unknown) != below || len(sessions[0].Processes) != 1 {
			t.Errorf("%s: %+v", version, sessions)
		}
		if why := w.claims()[0].Unreadable; below != (why == "0.129.0 is older than supported (0.130): update") {
			t.Errorf("%s: %q", version, why)
		}
	}
}

// A process that only reads a rollout, or only opens a lock file, makes no claim on the thread.
func TestReadersMakeNoClaim(t *testing.T) {
	w := newTestHome(t)
	lock := w.lock(threadA)
	lock.WriteLocked = false
	w.process(8, 1, npmExe, []string{"exec", "hi"}, lock, proc.OpenFile{Path: w.rollout(nameA)},
		writing(w.file("thread-writer-locks/.coordination.lock", "")), writing("/w/rollout-notes.jsonl"))
	w.expect("pid 8  process exact exec open")
}

// The daemon claims the threads of its clients; a client is a process that shows one, or a row of its own.
func TestDaemonAndItsClients(t *testing.T) {
	w := newTestHome(t)
	daemon := filepath.Join(w.home, "packages/app-server-daemon/releases/0.169.0-x86_64-unknown-linux-musl/bin/codex")
	args := []string{"app-server", "--listen", "unix://", "--managed-daemon"}
	w.process(5, 1, npmExe, []string{"--no-alt-screen"})
	w.process(6, 1, daemon, args, w.lock(threadA), writing(w.rollout(nameA)), w.lock(threadB))
	w.process(7, 6, daemon, []string{"app-server", "daemon", "pid-update-loop"})
	w.process(9, 1, npmExe, []string{"resume", threadA})
	w.expect("pid 6  process exact tui empty shared none",
		"pid 6 "+threadA+" writer-lock exact  on-disk shared", "pid 6 "+threadA+" rollout-fd exact  on-disk shared",
		"pid 6 "+threadB+" writer-lock exact tui shared none",
		"pid 5  process exact tui none", "pid 9  process exact tui empty none",
		"pid 9 "+threadA+" argv weak tui client on-disk")
	for _, c := range w.claims() {
		if c.Process.PID == 6 && (c.Version != "0.169.0" || c.Dir != "") {
			t.Errorf("claim %+v", c)
		}
	}
}

// A TUI without a thread that watches files runs its threads itself. Any other is a client of the daemon, which may not run yet.
func TestTUIWithoutThreads(t *testing.T) {
	for name, test := range map[string]struct {
		args  []string
		files []proc.OpenFile
		want  []string
	}{
		"client of the daemon":              {nil, nil, []string{"pid 8  process exact tui none"}},
		"its own, before the first prompt":  {nil, []proc.OpenFile{{Path: inotify}}, []string{"pid 8  process exact tui none"}},
		"told to run its own":               {[]string{"--no-daemon"}, nil, []string{"pid 8  process exact tui none"}},
		"client of another server":          {[]string{"--remote", "ws://127.0.0.1:1"}, []proc.OpenFile{{Path: inotify}}, []string{}},
		"resuming, before it has the lock":  {[]string{"--no-daemon", "resume", threadA}, nil, []string{"pid 8  process exact tui none", "pid 8 " + threadA + " argv weak "}},
		"the overview, the daemon's client": {[]string{"agents"}, nil, []string{"pid 8  process exact tui empty none"}},
		"the overview, with its own":        {[]string{"agents", "--no-daemon"}, nil, []string{"pid 8  process exact tui none"}},
		"a server in the foreground":        {[]string{"remote-control", "--no-daemon"}, nil, []string{"pid 8  process exact  empty shared none"}},
		"who starts the daemon":             {[]string{"remote-control", "start"}, nil, []string{}},
		"a prompt that looks like commands": {[]string{"--", "exec", "it"}, []proc.OpenFile{{Path: inotify}}, []string{"pid 8  process exact tui none"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newTestHome(t)
			w.process(8, 1, npmExe, test.args, test.files...)
			w.expect(test.want...)
		})
	}
}

// Where the kernel does not name descriptors, a TUI is a client if its home has a daemon.
func TestTUIWhereDescriptorsHaveNoNames(t *testing.T) {
	w := newTestHome(t)
	w.process(8, 1, npmExe, nil).Files = []proc.OpenFile{logDB}
	w.expect("pid 8  process exact tui none")
	w.process(9, 1, npmExe, []string{"app-server", "--managed-daemon"})
	w.expect("pid 9  process exact tui empty shared none", "pid 8  process exact tui none")
}

// Helpers, short commands and tools make no claim.
func TestHelpersMakeNoClaim(t *testing.T) {
	w := newTestHome(t)
	path := w.rollout(nameA)
	w.process(8, 1, npmExe, []string{"exec", "x"}, w.lock(threadA), writing(path))
	sandbox := w.process(9, 8, npmExe, []string{"--command-cwd", "/w", "--", "bash"})
	sandbox.Arguments[0] = "codex-linux-sandbox"
	w.process(10, 8, npmExe, []string{"exec", "x"}, w.lock(threadA), writing(path)) // a fork before its exec
	w.process(11, 8, "/opt/npm/bin/codex-code-mode-host", []string{"--listen", "grpc+stdio://"})
	w.process(12, 1, npmExe, []string{"exec", "x"}, w.lock(threadB)).State = 'Z'
	w.process(13, 1, "/usr/bin/vim", []string{"codex", "exec"})
	p := w.process(14, 1, "/usr/bin/sleep", []string{"exec", "resume", threadA})
	p.Name, p.Files = "codex", nil
	for pid, command := range []string{"login", "mcp", "queue", "archive", "features", "--version", "completion"} {
		w.process(20+pid, 1, npmExe, []string{command})
	}
	w.expect("pid 8  process exact exec open", "pid 8 "+threadA+" writer-lock exact exec on-disk",
		"pid 8 "+threadA+" rollout-fd exact exec on-disk")
}

// A live process whose thread has no rollout yet claims the thread, with the turn by its role.
func TestThreadsWithoutRollout(t *testing.T) {
	w := newTestHome(t)
	w.process(8, 1, npmExe, []string{"-C", "/elsewhere", "exec", "hi"}, w.lock(threadA))
	w.process(9, 1, npmExe, []string{"exec", "--ephemeral", "hi"})
	empty := w.file("sessions/2026/11/20/"+nameB, "")
	w.process(10, 1, npmExe, []string{"exec", "hi"}, writing(empty))
	w.expect("pid 8  process exact exec open", "pid 8 "+threadA+" writer-lock exact exec open", "pid 9  process exact exec open",
		"pid 10  process exact exec open", "pid 10 "+threadB+" rollout-fd exact exec on-disk open")
	if c := w.claims()[1]; c.Dir != "/elsewhere" || c.Path != "" || c.Home != w.home {
		t.Errorf("claim %+v", c)
	}
}

// A sub-agent's lock and rollout exist before its first record says that it is one. An exec's claims leave out such a thread.
func TestSubagentOfAnExecWithoutRecords(t *testing.T) {
	w := newTestHome(t)
	w.process(8, 1, npmExe, []string{"exec", "hi"}, w.lock(threadA), writing(w.rollout(nameA)), w.lock(threadB))
	p := w.process(9, 1, npmExe, []string{"--no-daemon"}, w.lock(threadA), writing(w.rollout(nameA)), w.lock(threadB))
	want := []string{
		"pid 8  process exact exec open", "pid 8 " + threadA + " writer-lock exact  on-disk", "pid 8 " + threadA + " rollout-fd exact  on-disk",
		"pid 9  process exact tui none", "pid 9 " + threadA + " writer-lock exact  on-disk", "pid 9 " + threadA + " rollout-fd exact  on-disk",
		"pid 9 " + threadB + " writer-lock exact tui none",
	}
	w.expect(want...)
	p.Files = []proc.OpenFile{logDB}
	empty := writing(w.file("sessions/2026/11/20/"+nameB, ""))
	w.facts[0].Files = append(w.facts[0].Files, empty)
	w.expect(append(want[:3], "pid 9  process exact tui none")...)
}

// One process can claim several threads.
func TestSeveralThreadsInOneProcess(t *testing.T) {
	w := newTestHome(t)
	w.process(8, 1, npmExe, []string{"--no-daemon"}, w.lock(threadB), w.lock(threadA), writing(w.rollout(nameA)), writing(w.rollout(nameB)))
	w.expect("pid 8  process exact tui none",
		"pid 8 "+threadA+" writer-lock exact  on-disk", "pid 8 "+threadA+" rollout-fd exact  on-disk",
		"pid 8 "+threadB+" writer-lock exact  on-disk", "pid 8 "+threadB+" rollout-fd exact  on-disk")
}

// A process whose files cannot be read makes a presence claim that says so.
func TestAnotherUsersProcess(t *testing.T) {
	w := newTestHome(t)
	p := w.process(8, 1, npmExe, nil)
	p.Exe, p.Name, p.Err = "", "codex", os.ErrPermission
	p = w.process(9, 1, "/usr/bin/git", nil)
	p.Exe, p.Err = "", os.ErrPermission
	p = w.process(10, 1, npmExe, nil)
	p.Exe, p.Name, p.Err = "", "codex", proc.ErrGone
	w.expect("pid 8  process exact  unreadable none")
}

// Of a process whose files cannot be read, the kernel says which locks it has taken.
func TestLockOfAnotherUsersProcess(t *testing.T) {
	w := newTestHome(t)
	p := w.process(8, 1, npmExe, nil, w.lock(threadB))
	p.Exe, p.Name, p.Err = "", "codex", os.ErrPermission
	w.expect("pid 8  process exact  unreadable none", "pid 8 "+threadB+" writer-lock strong  unreadable")
}

// A thread of a session that seems stopped lives, if any live process holds its lock.
func TestLocksOfStoppedSessions(t *testing.T) {
	w := newTestHome(t)
	lock := w.lock(threadB)
	homes := []discover.Home{{Dir: w.home}}
	expect := func(want ...string) {
		t.Helper()
		claims := New().ClaimsOf(t.Context(), proctest.NewTable(w.facts...).Thorough(), homes, map[string]bool{threadB: true})
		if got := describe(claims); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		if last := claims[len(claims)-1]; last.LeftBehind != (len(w.facts) == 0) || last.Home != w.home {
			t.Errorf("%+v", last)
		}
	}
	expect("pid 0 " + threadB + " writer-lock exact ")
	p := w.process(8, 1, "/usr/bin/holder", nil, lock)
	expect("pid 8  process exact  empty shared none", "pid 8 "+threadB+" writer-lock exact  shared none")
	p.Err = os.ErrPermission
	expect("pid 8  process exact  unreadable none", "pid 8 "+threadB+" writer-lock strong  unreadable")
}

// The kernel names a lock by the inode alone, whatever the file system, and whatever kind of lock it is: only a process that holds the
// thread's lock can be signalled to stop the thread.
func TestOtherLocksOfStoppedSessions(t *testing.T) {
	w := newTestHome(t)
	path := w.lock(threadB).Path
	link := w.file("elsewhere", "")
	must.Do(t, os.Remove(link))
	must.Do(t, os.Link(path, link)) // it has the inode of the lock
	claims := func() []discover.Claim {
		return New().ClaimsOf(t.Context(), proctest.NewTable(w.facts...).Thorough(), []discover.Home{{Dir: w.home}}, map[string]bool{threadB: true})
	}
	p := w.process(8, 1, "/usr/bin/editor", nil, proc.OpenFile{FD: 3, Path: link, Writable: true, WriteLocked: true})
	if got := claims(); len(got) != 0 {
		t.Errorf("lock on another file: %v", describe(got))
	}
	p.Files[0] = proc.OpenFile{FD: 3, Path: path, ReadLocked: true}
	if got := claims(); len(got) != 0 {
		t.Errorf("shared lock: %v", describe(got))
	}
	p.Err, p.Files[0] = os.ErrPermission, proc.OpenFile{FD: 3, Path: link, WriteLocked: true}
	if got := claims(); len(got) != 1 || got[0].Session != threadB || got[0].Alternative == "" {
		t.Errorf("unreadable: %+v", got)
	}
}

// The lock file that a killed process leaves is no evidence; the same file locked by a live process is.
func TestStaleLock(t *testing.T) {
	home, err := filepath.Abs("testdata/19-stale-lock")
	must.Do(t, err)
	w := newTestHome(t)
	w.home = home
	w.process(8, 1, npmExe, []string{"login"})
	if claims := w.claims(); len(claims) != 0 {
		t.Errorf("claims %v", describe(claims))
	}
	var sessions []discover.Session
	for _, r := range readHome(t, home, discover.ReadOptions{}) {
		sessions = append(sessions, discover.Correlate(proctest.NewTable(w.facts...), w.claims(), []discover.Record{r})...)
	}
	if len(sessions) != 1 || sessions[0].Status != discover.Stopped || sessions[0].Outcome != discover.Interrupted {
		text, _ := json.Marshal(sessions)
		t.Errorf("sessions %s", text)
	}
}
