package launch

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/lock"
	"agentctl/proc"
	"agentctl/tests/must"
)

// launcher makes plans for a caller named "me", whose declared locks are in a folder of the test.
func planner(t *testing.T, p puppets) (Planner, lock.Store) {
	t.Helper()
	env := map[string]string{"USER": "me", "XDG_STATE_HOME": t.TempDir()}
	getenv := func(key string) string { return env[key] }
	homes := func(discover.Agent) discover.HomeSources { return discover.HomeSources{Getenv: getenv} }
	scanner := &discover.Scanner{
		Adapters: []discover.Adapter{p}, HomeSources: homes, ReadTable: proc.ReadTable, PID: os.Getpid(), UID: os.Geteuid(),
	}
	return Planner{Scanner: scanner, Getenv: getenv, Environ: os.Environ(), Now: time.Now}, lock.StoreFromEnv(getenv)
}

// over returns a context whose deadline has passed: what is locked is not waited for.
func over(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithDeadline(t.Context(), time.Now())
	t.Cleanup(cancel)
	return ctx
}

func TestAPlanHoldsItsWorkspaceUntilItIsReleased(t *testing.T) {
	dir := t.TempDir()
	l, _ := planner(t, puppets{store: t.TempDir()})
	plan, err := l.Plan(t.Context(), puppets{}, Request{Dir: dir, Variables: []string{"COLOUR=blue"}})
	if err != nil || plan.Spec.Dir != dir || plan.Environment.Getenv("COLOUR") != "blue" {
		t.Fatalf("%+v, %v", plan, err)
	}
	occupied := (*OccupiedError)(nil)
	if _, err := l.Plan(over(t), puppets{}, Request{Dir: dir}); !errors.As(err, &occupied) || !occupied.Flocked {
		t.Errorf("a second plan: %v", err)
	}
	plan.Release()
	if held, err := lock.FlockWorkspace(over(t), dir); err != nil {
		t.Errorf("it is still held: %v", err)
	} else {
		held.Release()
	}
}

// A lock that the caller has declared keeps out an agent that the caller starts, unless it is forced.
func TestADeclaredLockRefusesAPlan(t *testing.T) {
	dir := t.TempDir()
	l, store := planner(t, puppets{store: t.TempDir()})
	workspace, err := lock.WorkspaceOf(dir)
	if err == nil {
		err = store.Declare(t.Context(), []*lock.Workspace{workspace}, lock.DeclaredLock{By: "me", Since: time.Now()}, time.Now())
	}
	must.Do(t, err)
	occupied := (*OccupiedError)(nil)
	if _, err := l.Plan(t.Context(), puppets{}, Request{Dir: dir}); !errors.As(err, &occupied) || occupied.Flocked || len(occupied.Locks) != 1 {
		t.Errorf("%v", err)
	}
	if held, err := lock.FlockWorkspace(over(t), dir); err != nil {
		t.Errorf("a refused plan holds the workspace: %v", err)
	} else {
		held.Release()
	}
	l.Force = true
	if plan, err := l.Plan(t.Context(), puppets{}, Request{Dir: dir}); err != nil || plan.Conflicts != nil {
		t.Errorf("forced: %v", err)
	}
}

// A live session is not resumed, but it can be copied.
func TestLiveSessionsAreNotResumed(t *testing.T) {
	for name, test := range map[string]struct {
		status        discover.Status
		fork, refused bool
	}{
		"running":         {discover.Running, false, true},
		"idle":            {discover.Idle, false, true},
		"stopped":         {discover.Stopped, false, false},
		"running, a copy": {discover.Running, true, false},
	} {
		s := discover.Session{Record: &discover.Record{Agent: "puppet", ID: "a"}, Status: test.status}
		other := discover.Session{Record: &discover.Record{Agent: "puppet", ID: "b"}, Status: discover.Running}
		p := &Plan{
			Request:  Request{Resume: &s, Fork: test.fork},
			Activity: &lock.Activity{Result: discover.Result{Sessions: []discover.Session{other, s}}},
		}
		err := p.checkResumable(false)
		live := (*LiveError)(nil)
		if errors.As(err, &live) != test.refused || live != nil && live.Session.ID != "a" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A session that a process may run without a trace is resumed only with force. What is known to be live is never resumed.
func TestPossiblyLiveSessions(t *testing.T) {
	stopped := discover.Session{Record: &discover.Record{Agent: "puppet", ID: "a", Home: "/h", Dir: "/w"}, Status: discover.Stopped}
	row := func(dir string) discover.Session {
		return discover.Session{
			Record: &discover.Record{Agent: "puppet", Home: "/h", Dir: dir}, Status: discover.Idle, MayRunAny: true, Processes: []proc.Process{{ID: proc.ID{PID: 7}}},
		}
	}
	unsure := row("/v") // by weak evidence, which is a process that may run another one as well
	unsure.ID = "a"
	for name, test := range map[string]struct {
		row                  discover.Session
		force, fork, refused bool
	}{
		"in its directory": {row("/w"), false, false, true},
		"in another one":   {row("/v"), false, false, false},
		"forced":           {row("/w"), true, false, false},
		"a copy":           {row("/w"), false, true, false},
		"unsure":           {unsure, false, false, true},
		"unsure, forced":   {unsure, true, false, false},
	} {
		p := &Plan{
			Request:  Request{Resume: &stopped, Fork: test.fork},
			Activity: &lock.Activity{Result: discover.Result{Sessions: []discover.Session{test.row}}},
		}
		err, possible := p.checkResumable(test.force), (*PossiblyLiveError)(nil)
		if errors.As(err, &possible) != test.refused || possible != nil && possible.Process.ID.PID != 7 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A holder of a lock is waited for if it runs this program, by a command that holds one only for a moment.
func TestBriefHolders(t *testing.T) {
	dir := t.TempDir()
	for line, brief := range map[string]bool{"launch": true, "rm": true, "lock": false, "launch -p lock": true} {
		args := strings.Fields(line)
		verb := args[0]
		must.Do(t, os.WriteFile(filepath.Join(dir, verb), []byte("echo ready\nread line\n"), 0o644))
		// sh runs the script of that name in the directory: its arguments are those of this program.
		cmd := &exec.Cmd{Path: "/bin/sh", Args: append([]string{"agentctl"}, args...), Dir: dir}
		in, inErr := cmd.StdinPipe()
		out, outErr := cmd.StdoutPipe()
		must.Do(t, errors.Join(inErr, outErr, cmd.Start()))
		_, readErr := out.Read(make([]byte, 1))
		table, err := proc.ReadTable(t.Context(), false)
		must.Do(t, errors.Join(readErr, err))
		holder, _ := table.ByPID(cmd.Process.Pid)
		held := lock.Lock{Holders: []proc.Process{holder}}
		if isBrief(proc.Process{Exe: holder.Exe}, held) != brief {
			t.Errorf("%s: want %v", line, brief)
		}
		if isBrief(proc.Process{Exe: "/bin/other"}, held) {
			t.Errorf("%s of another program is brief", line)
		}
		_ = in.Close()
		_ = cmd.Wait()
	}
}

// Only the verb tells what a command does, not its arguments.
func TestVerbOf(t *testing.T) {
	for line, want := range map[string]string{
		"agentctl lock": "lock", "agentctl launch lock": "launch", "agentctl --asked lock": "lock", "agentctl --asked rm lock": "rm",
		"agentctl": "", "agentctl --asked": "",
	} {
		if got := verbOf(strings.Fields(line)); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// family is an adapter whose agent has a short name and models of a family.
type family struct{ puppets }

func (family) Name() discover.Agent    { return "known-agent" }
func (family) ShortName() string       { return "ka" }
func (family) ModelFamilies() []string { return []string{"grand"} }

func TestMembersHaveDistinctNames(t *testing.T) {
	adapters := map[string]Adapter{"known-agent": family{}, "puppet": puppets{}}
	for given, want := range map[string]string{
		"known-agent puppet":                                   "ka puppet",
		"known-agent:grand-4 puppet":                           "ka puppet",
		"known-agent:grand-4 known-agent:tiny":                 "ka-grand ka-tiny",
		"known-agent:grand-4 known-agent:x/grand-5":            "ka-grand ka-grand-2",
		"puppet:maker/grand-4.5 puppet:plain":                  "puppet-grand-4-5 puppet-plain",
		"puppet puppet puppet:a":                               "puppet puppet-2 puppet-a",
		"puppet:(odd) puppet:_odd_ puppet:/":                   "puppet-odd puppet-odd-2 puppet",
		"known-agent:grand-4 known-agent:grand-4 puppet:grand": "ka-grand ka-grand-2 puppet",
	} {
		var members []Member
		for word := range strings.FieldsSeq(given) {
			agent, model, _ := strings.Cut(word, ":")
			members = append(members, Member{Adapter: adapters[agent], Model: model})
		}
		NameMembers(members)
		var got []string
		for _, m := range members {
			got = append(got, m.Name)
		}
		if !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: %q, want %s", given, got, want)
		}
	}
}

// A title cannot run a command in tmux, which expands formats in the names of windows.
func TestWindowName(t *testing.T) {
	for title, want := range map[string]string{
		"port the parser":            "port the parser",
		"#(touch /tmp/x) #{pane} %H": "(touch /tmp/x) {pane} H",
		"a\nb\x1b[31m":               "a b [31m",
		"work:1.2":                   "work12",
		"öööööööööööööööööööööööööööööööö": "öööööööööööööööööööööööööööööö",
	} {
		if got := windowName(title); got != want {
			t.Errorf("%q: %q, want %q", title, got, want)
		}
	}
}
