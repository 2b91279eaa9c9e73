package opencode

import (
	"path/filepath"
	"slices"
	"testing"

	"agentctl/discover"
	"agentctl/proc"
)

// What holds a database and a log is the agent, whatever its program is called; what holds less is not.
func TestProcessesByWhatTheyHold(t *testing.T) {
	dir := restore(t, "fdpos")
	called := func(pid int, name string, args ...string) proc.FakeProcess {
		f := withLog(agent(pid, at(t, "19:26:50"), append([]string{"run"}, args...)...), dir, 20219)
		f.Name, f.Exe, f.Arguments[0] = name, "/srv/bin/"+name, name
		return f
	}
	without := func(f proc.FakeProcess, drop func(string) bool) proc.FakeProcess {
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
	processes := []proc.FakeProcess{
		called(1, ".opencode"), called(2, "my-opencode-raw"), called(3, "oc"),
		without(called(4, "sqlite3"), isLog), readOnly, locked,
		without(called(7, "oc", printLogs), isLog), without(called(8, "rsyslogd"), isDatabase),
	}
	table := proc.NewFakeTable(processes...)
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
	got := New().Homes(discover.HomeSources{Getenv: func(k string) string { return env[k] }}, proc.NewFakeTable(f))
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
