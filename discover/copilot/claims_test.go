package copilot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/proc"
	"agentctl/tests/must"
	"agentctl/tests/proctest"
)

const (
	npmExe = "/opt/npm/@github/copilot-linux-x64/copilot"
	idA    = "22222222-0000-4000-8000-000000000001"
	idB    = "33333333-0000-4000-8000-000000000001"
)

// world is a home on disk, and processes.
type world struct {
	t         *testing.T
	home      string
	processes []proctest.Process
	thorough  bool
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{t: t, home: filepath.Join(t.TempDir(), ".copilot")}
}

// file writes a file in the home and returns its path.
func (w *world) file(name, content string) string {
	w.t.Helper()
	path := filepath.Join(w.home, name)
	must.Do(w.t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)))
	return path
}

// session stores a session with these records.
func (w *world) session(id string, records ...string) {
	w.t.Helper()
	w.file("session-state/"+id+"/workspace.yaml", "id: "+id+"\ncwd: /srv/w\nclient_name: github/cli\nname: given\nuser_named: true\n")
	if len(records) > 0 {
		w.file("session-state/"+id+"/events.jsonl", string(lines(records...)))
	}
}

// started is long before the records of tests, which are of noon.
var started = time.Date(2026, 11, 26, 11, 0, 0, 0, time.UTC)

// agent adds a process of the agent with its log.
func (w *world) agent(pid int, args ...string) *proctest.Process {
	w.t.Helper()
	w.processes = append(w.processes, proctest.Process{
		Process: proc.Process{
			ID: proc.ID{PID: pid, Birth: fmt.Sprint("boot/", pid)}, Ticks: uint64(pid), Parent: 1, State: 'S', Name: "MainThread", Exe: npmExe, Started: started,
		},
		Arguments: append([]string{"copilot"}, args...), WorkingDir: "/srv/w",
		Environ: map[string]string{"HOME": filepath.Dir(w.home)},
		Files: []proc.OpenFile{
			{FD: 0, Path: "/dev/pts/3"},
			{FD: 30, Path: w.file(fmt.Sprintf("logs/process-1795743070629-%d.log", pid), "")},
			// The program locks a file of this name in its cache, too.
			{FD: 31, Path: fmt.Sprintf("/root/.cache/copilot/pkg/linux-x64/1.0.102/inuse.%d.hold", pid), Writable: true, WriteLocked: true},
		},
	})
	return &w.processes[len(w.processes)-1]
}

// hold is the lock on a session of the process with a pid.
func (w *world) hold(id string, pid int) proc.OpenFile {
	w.t.Helper()
	return proc.OpenFile{FD: 44, Path: w.file(fmt.Sprintf("session-state/%s/inuse.%d.hold", id, pid), ""), Writable: true, WriteLocked: true}
}

// rows returns what is true of the sessions, one line for each: ID, status, what it waits on, pids, strength.
func (w *world) rows() string {
	w.t.Helper()
	table := proctest.NewTable(w.processes...)
	if w.thorough {
		table = table.Thorough()
	}
	a := New()
	homes := a.Homes(discover.HomeSources{Getenv: func(key string) string { return map[string]string{"HOME": filepath.Dir(w.home)}[key] }}, table)
	claims, err := a.Claims(w.t.Context(), table, homes)
	if err != nil {
		w.t.Error(err)
	}
	entries, _ := a.Entries(w.t.Context(), homes, discover.EntryFilter{})
	var records []discover.Record
	for r, err := range a.Read(w.t.Context(), entries, discover.ReadOptions{}) {
		if err != nil {
			w.t.Error(err)
		}
		records = append(records, r)
	}
	var out []string
	for _, s := range discover.Correlate(table, claims, records) {
		row := strings.TrimSpace(s.ID[:min(len(s.ID), 3)] + " " + string(s.Status) + string(s.Outcome))
		if s.WaitingOn != nil {
			row += " on " + s.WaitingOn.Brief
		}
		for _, p := range s.Processes {
			row += fmt.Sprintf(" %d", p.ID.PID)
		}
		for _, e := range s.Evidence {
			if e.Accepted && e.Session != "" {
				row += " " + e.Strength.String()
			}
		}
		for _, fact := range []struct {
			holds bool
			name  string
		}{{s.Shared, "shared"}, {s.NameOnly, "name only"}} {
			if fact.holds {
				row += " " + fact.name
			}
		}
		out = append(out, row)
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

func TestLiveSessions(t *testing.T) {
	done := []string{asked, starts, answers, over}
	open := []string{asked, starts, calls, begins}
	tests := map[string]struct {
		make func(*world)
		want string
	}{
		"a terminal that was asked nothing": {func(w *world) {
			w.session(idA)
			p := w.agent(7)
			p.Files = append(p.Files, w.hold(idA, 7))
		}, "222 idle 7 exact"},
		"a terminal at work": {func(w *world) {
			w.session(idA, open...)
			p := w.agent(7)
			p.Files = append(p.Files, w.hold(idA, 7))
		}, "222 running 7 exact"},
		"a terminal that asks for permission": {func(w *world) {
			w.session(idA, append(open, wants)...)
			p := w.agent(7)
			p.Files = append(p.Files, w.hold(idA, 7))
		}, "222 waiting on make install 7 exact"},
		"the folder of sessions is on another disk": {func(w *world) {
			disk := filepath.Join(w.t.TempDir(), "sessions")
			must.Do(w.t, errors.Join(os.MkdirAll(disk, 0o700), os.MkdirAll(w.home, 0o700), os.Symlink(disk, filepath.Join(w.home, "session-state"))))
			w.session(idA, open...)
			p, h := w.agent(7), w.hold(idA, 7)
			h.Path = filepath.Join(disk, idA, "inuse.7.hold")
			p.Files = append(p.Files, h)
		}, "222 running 7 exact"},
		"a terminal that has shown two sessions": {func(w *world) {
			w.session(idA, done...)
			w.session(idB, open...)
			p := w.agent(7)
			p.Files = append(p.Files, w.hold(idA, 7), w.hold(idB, 7))
		}, "222 idle 7 exact shared; 333 running 7 exact shared"},
		"a print run whose turn is over waits for what runs in the background": {func(w *world) {
			w.session(idA, done...)
			p := w.agent(7, "--session-id", idA)
			p.Files[0].Path = "/dev/null"
			p.Files = append(p.Files, w.hold(idA, 7))
		}, "222 running 7 exact"},
		"-p in a terminal": {func(w *world) {
			w.session(idA, done...)
			p := w.agent(7, "-p", "do it")
			p.Files = append(p.Files, w.hold(idA, 7))
		}, "222 running 7 exact"},
		"a process that has not loaded its session": {func(w *world) { w.agent(7) }, "idle 7"},
		"a terminal that has resumed a session and was asked nothing": {func(w *world) {
			w.session(idA, done...)
			w.agent(7, "--session-id="+idA)
		}, "222 unknown; idle 7"},
		"a terminal that has resumed a session and keeps no log": {func(w *world) {
			w.session(idA, done...)
			p := w.agent(7, "--session-id="+idA, "--log-level=error")
			p.Files = append(p.Files[:1], p.Files[2])
		}, "222 unknown; idle 7"},
		"a terminal that has resumed a session in mid-turn": {func(w *world) {
			w.session(idA, open...)
			w.agent(7, "--resume", idA).Started = started.Add(2 * time.Hour)
		}, "222 unknown; idle 7"},
		"a terminal that shows another session than it was started for, by its log": {func(w *world) {
			w.session(idA, done...)
			w.session(idB, done...)
			p := w.agent(7, "--session-id="+idA)
			w.file(filepath.Join("logs", filepath.Base(p.Files[1].Path)), "2026-11-27T05:06:03.253Z [INFO] Registering foreground session: "+idA+
				"\n2026-11-27T05:06:20.296Z [INFO] Unregistering foreground session: "+idA+"\n2026-11-27T05:06:20.306Z [INFO] Registering foreground session: "+idB+"\n")
		}, "222 stoppedcompleted; 333 idle 7 strong"},
		"a terminal that shows a session without a prompt, by its log": {func(w *world) {
			w.session(idA, done...)
			p := w.agent(7, "--session-id="+idA)
			w.file(filepath.Join("logs", filepath.Base(p.Files[1].Path)), "2026-11-27T05:06:20.306Z [INFO] Registering foreground session: "+idB+"\n")
		}, "222 stoppedcompleted; idle 7"},
		"a terminal that has left the session that it resumed": {func(w *world) {
			w.session(idA, done...)
			w.session(idB)
			p := w.agent(7, "--resume="+idA)
			p.Files = append(p.Files, w.hold(idB, 7))
		}, "222 stoppedcompleted; 333 idle 7 exact"},
		"a terminal that begins a session of a given ID": {func(w *world) { w.agent(7, "--session-id="+idA) }, "idle 7"},
		"a print run that has not loaded its session": {func(w *world) {
			w.session(idA, done...)
			w.agent(7, "--session-id="+idA).Files[0].Path = "/dev/null"
		}, "222 stoppedcompleted; running 7"},
		"files that a killed process has left": {func(w *world) {
			w.session(idA, open...)
			w.hold(idA, 7)
			w.file("session-state/"+idA+"/inuse.7.lock", "7")
		}, "222 stoppedinterrupted"},
		"files that another process with the pid finds": {func(w *world) {
			w.session(idA, open...)
			w.file("open-sessions-state.json", `{"`+idA+`":{}}`)
			w.file("session-state/"+idA+"/inuse.7.lock", "7")
			old := started.Add(-time.Hour)
			must.Do(w.t, os.Chtimes(filepath.Join(w.home, "session-state", idA, "inuse.7.lock"), old, old))
			w.agent(7).Files = w.processes[0].Files[:2]
		}, "222 stoppedinterrupted; idle 7"},
		"a lock that a tool has inherited": {func(w *world) {
			w.session(idA, open...)
			p, tool := w.agent(7), w.agent(8)
			h := w.hold(idA, 7)
			w.processes[0].Files = append(p.Files, h)
			tool.Exe, tool.Name, tool.Files = "/usr/bin/sleep", "sleep", []proc.OpenFile{h}
			w.thorough = true
		}, "222 running 7 exact"},
		"a program of another name": {func(w *world) {
			w.session(idA, open...)
			p := w.agent(7)
			p.Exe, p.Arguments[0] = "/opt/x/gh-agent", "gh-agent"
			p.Files = append(p.Files, w.hold(idA, 7))
			w.thorough = true
		}, "222 running 7 exact"},
		"AWS's tool of the same name": {func(w *world) {
			p := w.agent(7, "svc", "deploy")
			p.Name, p.Exe, p.Files = "copilot", "/usr/local/bin/copilot", p.Files[:1]
		}, ""},
		"a process without a log": {func(w *world) { p := w.agent(7); p.Files = p.Files[:1] }, "idle 7 name only"},
		"npm's launcher": {func(w *world) {
			p := w.agent(7)
			p.Name, p.Exe, p.Arguments, p.Files = "node", "/usr/bin/node", []string{"node", "/opt/npm/@github/copilot/npm-loader.js"}, nil
		}, ""},
		"a command":                  {func(w *world) { w.agent(7, "mcp", "list") }, ""},
		"a server without a session": {func(w *world) { w.agent(7, "--acp") }, ""},
		"a server": {func(w *world) {
			w.session(idA, done...)
			p := w.agent(7, "--acp")
			p.Files = append(p.Files, w.hold(idA, 7))
		}, "222 idle 7 exact shared"},
		"two processes that run one session": {func(w *world) {
			w.session(idA, "a1<r0 "+asked, "a2<a1 "+starts, `b1<a2 session.resume {"alreadyInUse":true}`, "b2<b1 "+asked, "b3<b2 "+answers, "b4<b3 "+over)
			w.agent(7)
			w.agent(8)
			w.processes[0].Files = append(w.processes[0].Files, w.hold(idA, 7))
			w.processes[1].Files = append(w.processes[1].Files, w.hold(idA, 8))
		}, "222 running 7 8 exact exact"},
		"1.0.82: a terminal's pid in a file": {func(w *world) {
			w.session(idA, append(open, wants)...)
			w.session(idB, done...)
			w.file("open-sessions-state.json", `{"`+idA+`":{},"`+idB+`":{}}`)
			w.file("session-state/"+idA+"/inuse.7.lock", "7")
			w.file("session-state/"+idB+"/inuse.7.lock", "7")
			p := w.agent(7)
			p.Files = p.Files[:2]
		}, "222 waiting on make install 7 strong shared; 333 idle 7 strong shared"},
		"1.0.82: a print run by its log": {func(w *world) {
			w.session(idA, open...)
			w.file("session-state/"+idA+"/inuse.7.lock", "7")
			p := w.agent(7, "-p", "x")
			p.Files = p.Files[:2]
			w.file(filepath.Join("logs", filepath.Base(p.Files[1].Path)), "2026-11-27T01:31:41.208Z [INFO] Workspace initialized: "+idA+" (checkpoints: 0)\n")
		}, "222 running 7 strong"},
		"what it has open may not be read": {func(w *world) { w.agent(7).Err = fs.ErrPermission }, "unknown 7 name only"},
		"another process of the pid": {func(w *world) {
			w.session(idA, open...)
			p := w.agent(7)
			p.Files = append(p.Files, w.hold(idA, 6))
		}, "222 stoppedinterrupted; idle 7"},
		"an open turn of a process that has ended": {func(w *world) {
			w.session(idA, open...)
			p := w.agent(7)
			p.Started = started.Add(2 * time.Hour)
			p.Files = append(p.Files, w.hold(idA, 7))
		}, "222 idle 7 exact"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			test.make(w)
			if got := w.rows(); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func FuzzCmdline(f *testing.F) {
	f.Add("copilot\x00--session-id\x00" + idA + "\x00-p\x00x")
	f.Add("copilot\x00--resume=" + idA)
	f.Fuzz(func(t *testing.T, line string) {
		if c := parseCmdline(strings.Split(line, "\x00")); c.session != "" && !isUUID(c.session) {
			t.Fatalf("%+v", c)
		}
	})
}

func TestCmdline(t *testing.T) {
	for line, want := range map[string]cmdline{
		"":                            {},
		"-p x --allow-all":            {print: true},
		"--session-id " + idA:         {session: idA},
		"--resume=" + idA + " -s":     {session: idA},
		"--resume --allow-all":        {},
		"-r abc -i hello":             {},
		"mcp list":                    {helper: true},
		"--allow-tool write -- login": {},
		"--model login -i update":     {},
		"--acp":                       {server: true},
		"--server --stdio":            {server: true},
		"--ui-server":                 {uiServer: true},
		"--version":                   {helper: true},
	} {
		if got := parseCmdline(strings.Fields(line)); got != want {
			t.Errorf("%s: %+v, want %+v", line, got, want)
		}
	}
}
