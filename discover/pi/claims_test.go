package pi

import (
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

func table(processes ...proctest.Process) *proc.Table { return proctest.NewTable(processes...) }

// start is when made-up processes start: 300 ms before headerLine's session is made.
func start() time.Time { return time.Date(2026, 11, 26, 9, 59, 59, 700e6, time.UTC) }

// pi is a terminal of Pi in /w, which shows nothing.
func pi(pid int, home string, change ...func(*proctest.Process)) proctest.Process {
	p := proctest.Process{
		Process: proc.Process{
			ID: proc.ID{PID: pid, Birth: "b"}, Parent: 1, State: 'S', Name: "pi", Exe: "/opt/node/bin/node", Started: start(), UID: os.Geteuid(),
		},
		Arguments: []string{"pi"}, WorkingDir: "/w", Environ: map[string]string{"PI_CODING_AGENT_DIR": home},
		Files: []proc.OpenFile{{FD: 0, Path: "/dev/pts/3", Writable: true}},
	}
	for _, f := range change {
		f(&p)
	}
	return p
}

// tool is a child of a process that names a session.
func tool(parent int, id, file string) proctest.Process {
	return proctest.Process{
		Process:   proc.Process{ID: proc.ID{PID: parent + 1000, Birth: "b"}, Parent: parent, State: 'S', Name: "bash", Exe: "/bin/bash", UID: os.Geteuid()},
		Arguments: []string{"bash", "-c", "x"}, Environ: map[string]string{"PI_SESSION_ID": id, "PI_SESSION_FILE": file},
	}
}

// env sets a variable of a process, without removes one.
func env(key, value string) func(*proctest.Process) {
	return func(p *proctest.Process) { p.Environ[key] = value }
}

// Sessions of /w: old was last written before the processes start, s1 made at their start, later made after it.
const (
	nameOld   = "2026-11-26T08-00-00-000Z_old.jsonl"
	nameLater = "2026-11-26T10-10-00-000Z_01a21804-9ba1-71ea-8c8f-1a47d55348fd.jsonl"
	later     = "01a21804-9ba1-71ea-8c8f-1a47d55348fd"
)

// storedSessions makes a home with some of these sessions, each with the time of its last line.
func storedSessions(t *testing.T, names ...string) string {
	t.Helper()
	files := map[string]string{}
	for _, name := range names {
		n, _ := parseFileName(filepath.Base(name))
		files["sessions/--w--/"+name] = string(session(strings.NewReplacer(`"s1"`, `"`+n.id+`"`).Replace(headerLine), userLine, answerLine))
	}
	dir := home(t, files)
	for _, name := range names {
		n, _ := parseFileName(filepath.Base(name))
		must.Do(t, os.Chtimes(filepath.Join(dir, "sessions/--w--", name), time.Time{}, n.made.Add(time.Minute)))
	}
	return dir
}

// What ties a process of Pi to a session, and how sure that is.
func TestClaims(t *testing.T) {
	all := []string{nameOld, nameA, nameLater}
	folder := func(dir string) string { return filepath.Join(dir, "sessions/--w--") + "/" }
	output := func(text string) func(dir string) []proctest.Process {
		return func(dir string) []proctest.Process {
			path := filepath.Join(dir, "out")
			_ = os.WriteFile(path, []byte(text), 0o600)
			return []proctest.Process{pi(7, dir, func(p *proctest.Process) {
				p.Files = []proc.OpenFile{{FD: 1, Path: path, Proc: path, Writable: true}}
			})}
		}
	}
	one := func(change ...func(*proctest.Process)) func(string) []proctest.Process {
		return func(dir string) []proctest.Process { return []proctest.Process{pi(7, dir, change...)} }
	}
	for name, test := range map[string]struct {
		stored    []string
		processes func(dir string) []proctest.Process
		want      []string // PID SESSION STRENGTH KIND, and whether the session's file is named
	}{
		"tool": {all, func(dir string) []proctest.Process {
			return []proctest.Process{pi(7, dir), tool(7, "old", folder(dir)+nameOld)}
		}, []string{"7 old exact tool stored"}},
		"tool of a session that is not stored": {all, func(dir string) []proctest.Process {
			return []proctest.Process{pi(7, dir), tool(7, "gone", folder(dir)+"2026-11-26T08-00-00-000Z_gone.jsonl")}
		}, []string{"7 gone exact tool"}},
		"child of a nested agent": {[]string{nameOld}, func(dir string) []proctest.Process {
			return []proctest.Process{pi(7, dir, env(sessionKey, "old")), tool(7, "old", folder(dir)+nameOld)}
		}, nil},
		"output":                     {all, output(headerLine + "\n" + userLine + "\n"), []string{"7 s1 exact output stored"}},
		"output of a process before": {nil, output(strings.Replace(headerLine, "10:00:00", "09:00:00", 1) + "\n"), nil},
		"output that is no session":  {nil, output("hello\n"), nil},
		"output of two processes": {nil, func(dir string) []proctest.Process {
			both := output(headerLine + "\n")(dir)
			return append(both, pi(8, dir, func(p *proctest.Process) { p.Files = both[0].Files }))
		}, nil},
		"launched, not stored":        {nil, one(env(launchedKey, "s9")), []string{"7 s9 strong launch"}},
		"launched":                    {all, one(env(launchedKey, "s1")), []string{"7 s1 exact launch stored"}},
		"started by a launched one":   {[]string{nameOld}, one(env(launchedKey, "s1"), env(agentKey, "true")), nil},
		"first session of a terminal": {[]string{nameOld, nameA}, one(), []string{"7 s1 strong start stored"}},
		"another session of one":      {[]string{nameOld, nameLater}, one(), []string{"7 " + later + " weak written stored"}},
		"after /new":                  {all, one(), nil},
		"nothing written":             {[]string{nameOld}, one(), nil},
		"another directory":           {all, one(func(p *proctest.Process) { p.WorkingDir = "/v" }), nil},
		"two terminals, each its first": {[]string{nameOld, nameA, nameLater}, func(dir string) []proctest.Process {
			return []proctest.Process{pi(7, dir), pi(8, dir, func(p *proctest.Process) { p.Started = start().Add(10 * time.Minute) })}
		}, []string{"7 s1 strong start stored", "8 " + later + " strong start stored"}},
		"two terminals, one session": {[]string{nameOld, nameA}, func(dir string) []proctest.Process {
			return []proctest.Process{pi(7, dir), pi(8, dir)}
		}, []string{"7 s1 strong start stored", "8 s1 strong start stored"}},
		"a terminal, and a tool of another": {[]string{nameA, nameLater}, func(dir string) []proctest.Process {
			return []proctest.Process{pi(7, dir), pi(8, dir), tool(8, later, folder(dir)+nameLater)}
		}, []string{"7 s1 strong start stored", "8 " + later + " exact tool stored"}},
		"while it loads": {[]string{nameOld, nameA}, one(func(p *proctest.Process) {
			p.Name, p.Arguments = "MainThread", []string{"node", "/usr/lib/node_modules/.bin/pi", "-p", "x"}
		}), []string{"7 s1 strong start stored"}},
		"another program of node": {all, one(func(p *proctest.Process) { p.Name, p.Arguments = "pi", []string{"node", "pi.js"} }), nil},
		"another program":         {all, one(func(p *proctest.Process) { p.Exe = "/usr/bin/pi-hole" }), nil},
		"dead":                    {all, one(func(p *proctest.Process) { p.State = 'Z' }), nil},
	} {
		dir := storedSessions(t, test.stored...)
		claims, err := New().Claims(t.Context(), table(test.processes(dir)...), []discover.Home{{Dir: dir}})
		var got []string
		for _, c := range claims {
			if c.Session == "" {
				continue
			}
			text := fmt.Sprintf("%d %s %s %s", c.Process.PID, c.Session, c.Strength, c.Kind)
			if c.Path != "" {
				text += " stored"
			}
			got = append(got, text)
		}
		if slices.Sort(got); err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, test.want)
		}
	}
}

// An idle terminal has a row, though nothing names its session: it may run any of its directory. Nothing but its name says that it is Pi,
// unless a shell has noted which program it is.
func TestPresence(t *testing.T) {
	dir := storedSessions(t, nameOld)
	program := filepath.Join(dir, "pi-coding-agent/dist/pi")
	for path, text := range map[string]string{program: "", filepath.Join(dir, "pi-coding-agent/package.json"): `{"name":"@earendil-works/pi-coding-agent","version":"1.5.2"}`} {
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.Do(t, os.WriteFile(path, []byte(text), 0o700))
	}
	for name, test := range map[string]struct {
		change func(*proctest.Process)
		want   discover.Claim
		idle   bool
	}{
		"terminal":      {func(*proctest.Process) {}, discover.Claim{Home: dir, Dir: "/w", NameOnly: true, MayRunAny: true}, true},
		"asks a model":  {func(p *proctest.Process) { p.Files = append(p.Files, proc.OpenFile{FD: 9, Path: "socket:[4711]"}) }, discover.Claim{Home: dir, Dir: "/w", NameOnly: true, MayRunAny: true}, false},
		"headless":      {func(p *proctest.Process) { p.Files = nil }, discover.Claim{Home: dir, Dir: "/w", NameOnly: true, MayRunAny: true}, false},
		"of a shell":    {env("_", program), discover.Claim{Home: dir, Dir: "/w", MayRunAny: true, Version: "1.5.2"}, true},
		"other program": {env("_", "/bin/sh"), discover.Claim{Home: dir, Dir: "/w", NameOnly: true, MayRunAny: true}, true},
		"launched":      {env(launchedKey, "s9"), discover.Claim{Home: dir, Dir: "/w", Source: "print"}, false},
		"other home":    {env("PI_CODING_AGENT_DIR", "/elsewhere"), discover.Claim{Dir: "/w", NameOnly: true, MayRunAny: true}, true},
		"unreadable":    {func(p *proctest.Process) { p.Exe, p.Err = "", fs.ErrPermission }, discover.Claim{NameOnly: true, MayRunAny: true, Unreadable: "its environment: permission denied"}, false},
	} {
		claims, err := New().Claims(t.Context(), table(pi(7, dir, test.change)), []discover.Home{{Dir: dir}})
		i := slices.IndexFunc(claims, func(c discover.Claim) bool { return c.Session == "" })
		if err != nil || i < 0 {
			t.Errorf("%s: %v, %v", name, claims, err)
			continue
		}
		c := claims[i]
		if idle := c.Turn != nil && c.Turn.State == discover.TurnNone; idle != test.idle {
			t.Errorf("%s: %+v", name, c.Turn)
		}
		c.Turn, c.Agent, c.Process, c.Strength, c.Kind, c.Detail = nil, "", proc.ID{}, 0, "", ""
		if fmt.Sprintf("%+v", c) != fmt.Sprintf("%+v", test.want) {
			t.Errorf("%s: %+v, want %+v", name, c, test.want)
		}
	}
	ended := pi(7, dir, func(p *proctest.Process) { p.Exe, p.Err = "", proc.ErrGone })
	if claims, err := New().Claims(t.Context(), table(ended), []discover.Home{{Dir: dir}}); len(claims) > 0 || err != nil {
		t.Errorf("of a process that has just ended: %+v, %v", claims, err)
	}
}

// Live processes name homes: by their environment, and by the files that their tools have.
func TestHomesOfProcesses(t *testing.T) {
	sources := discover.HomeSources{Getenv: func(string) string { return "" }}
	all := New().Homes(sources, table(
		pi(7, "/one"), pi(8, "/one", env("PI_CODING_AGENT_SESSION_DIR", "flat")), tool(8, "s1", "/other/agent/sessions/--w--/"+nameA),
		pi(9, "/one"), tool(9, "s1", "/a/b/"+nameA), pi(10, "/one"), tool(10, "s1", "/a/notes"),
	))
	var got []string
	for _, h := range all {
		if got = append(got, h.Dir); h.FromUser || len(h.NamedBy) == 0 {
			t.Errorf("%+v", h)
		}
	}
	if want := []string{"/one", "/w/flat", "/other/agent", "/a/b"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A process with a session's marker is its tool. One ID may be in two directories.
func TestMarkers(t *testing.T) {
	getenv := func(env map[string]string) func(string) string { return func(key string) string { return env[key] } }
	if m, ok := New().ReadMarker(getenv(map[string]string{sessionKey: "s1"})); !ok || m.Session != "s1" {
		t.Errorf("%+v, %t", m, ok)
	}
	if m, ok := New().ReadMarker(getenv(map[string]string{aiKey: "pi", sessionKey: "../x"})); ok {
		t.Errorf("%+v", m)
	}
	s := discover.Session{Record: &discover.Record{ID: "s1", Path: "/h/sessions/--w--/" + nameA}}
	for file, want := range map[string]bool{"/h/sessions/--w--/" + nameA: true, "/h/sessions/--v--/" + nameA: false, "": true} {
		for p := range table(tool(7, "s1", file)).All() {
			if got := New().HasMarker(p, s); got != want {
				t.Errorf("%q: %t", file, got)
			}
		}
	}
}
