package proc

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
)

// asked is a backend that records what is read; the answers do not matter.
type asked struct {
	FakeProcess
	mu   sync.Mutex
	list []string
}

func (a *asked) note(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list = append(a.list, fmt.Sprintf(format, args...))
}

// since returns what was read since the last call.
func (a *asked) since() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	defer func() { a.list = nil }()
	slices.Sort(a.list)
	return strings.Join(a.list, " ")
}

func (a *asked) args(p Process) ([]string, error) { a.note("args"); return a.FakeProcess.args(p) }
func (a *asked) cwd(p Process) (string, error)    { a.note("dir"); return a.FakeProcess.cwd(p) }

func (a *asked) env(p Process, keys []string) (map[string]string, error) {
	a.note("env:%s", strings.Join(keys, ","))
	return a.FakeProcess.env(p, keys)
}

func (a *asked) openFiles(p Process, match func(string) bool) ([]OpenFile, error) {
	files, err := a.FakeProcess.openFiles(p, match)
	var names []string
	for _, f := range files {
		names = append(names, f.Path)
	}
	a.note("files:%s", strings.Join(names, ","))
	return files, err
}

func (a *asked) listenPorts(p Process, names []string, ours listenersFunc) ([]int, error) {
	a.note("ports:%s", strings.Join(names, ","))
	return a.FakeProcess.listenPorts(p, names, ours)
}

func (a *asked) credentials(p Process) (Credentials, error) {
	a.note("standing")
	return a.FakeProcess.credentials(p)
}

func (a *asked) pidNamespace(p Process) (string, error) {
	a.note("namespace")
	return a.FakeProcess.pidNamespace(p)
}

func (a *asked) bytesWritten(p Process) (int64, error) {
	a.note("written")
	return a.FakeProcess.bytesWritten(p)
}
func (a *asked) usage(p Process) (Usage, error) { a.note("usage"); return a.FakeProcess.usage(p) }

// one makes a table of one process, and returns a function that finds the process in it.
func one(a *asked) func() Process {
	id := ID{PID: 7, Birth: "b"}
	table := newTable([]Process{{ID: id, State: 'S', impl: a}})
	return func() Process { p, _ := table.Find(id); return p }
}

// TestEachFactIsReadOnce, by however many goroutines, and from whichever copy of the process.
func TestEachFactIsReadOnce(t *testing.T) {
	a := &asked{FakeProcess: FakeProcess{
		Arguments: []string{"me"}, WorkingDir: "/w", Environ: map[string]string{"A": "1"},
		Files: []OpenFile{{Path: "/f"}}, Ports: []int{80}, NSPIDs: []int{7, 1}, PIDNS: "pid:[2]",
	}}
	process := one(a)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			p := process()
			args, _ := p.Args()
			dir, _ := p.Cwd()
			env, _ := p.Env("A", "B")
			files, _ := p.OpenFiles(func(string) bool { return true })
			ports, _ := p.ListenPorts()
			pids, _ := p.NamespacePIDs()
			namespace, _ := p.PIDNamespace()
			got := fmt.Sprintf("%v %s %v %s %v %v %s", args, dir, env, files[0].Path, ports, pids, namespace)
			if want := "[me] /w map[A:1] /f [80] [7 1] pid:[2]"; got != want {
				t.Errorf("%s, want %s", got, want)
			}
			args[0], ports[0], pids[0], env["A"] = "", 0, 0, "" // what one does with an answer is his own affair
		})
	}
	all.Wait()
	const every = "args dir env:A,B files:/f namespace ports:/f standing"
	if got := a.since(); got != every {
		t.Errorf("asked for %s, want %s", got, every)
	}
	for range 2 {
		_, _ = process().Usage()
	}
	if got := a.since(); got != "usage usage" {
		t.Errorf("asked for %s: what is used changes", got)
	}
	for range 2 {
		_, _ = process().Uncached().Args()
	}
	if got := a.since(); got != "args args" {
		t.Errorf("asked for %s, though it was to be fresh", got)
	}
}

// TestErrorsAreCached: a fact that could not be read is not read again.
func TestErrorsAreCached(t *testing.T) {
	a := &asked{FakeProcess: FakeProcess{Err: ErrGone}}
	p := one(a)()
	for range 2 {
		_, args := p.Args()
		_, env := p.Env("A")
		_, files := p.OpenFiles(func(string) bool { return true })
		for _, err := range []error{args, env, files} {
			if !errors.Is(err, ErrGone) {
				t.Errorf("%v", err)
			}
		}
	}
	if got := a.since(); got != "args env:A files:" {
		t.Errorf("asked for %s", got)
	}
}

// TestOnlyNewVariablesAreRead: variables that are not requested are never read.
func TestOnlyNewVariablesAreRead(t *testing.T) {
	a := &asked{FakeProcess: FakeProcess{Environ: map[string]string{"A": "1", "C": "3", "SECRET": "x"}}}
	p := one(a)()
	for _, c := range []struct {
		keys  []string
		want  map[string]string
		asked string
	}{
		{[]string{"A", "B"}, map[string]string{"A": "1"}, "env:A,B"},
		{[]string{"B"}, map[string]string{}, ""},
		{[]string{"C", "A"}, map[string]string{"A": "1", "C": "3"}, "env:C"},
		{[]string{"C"}, map[string]string{"C": "3"}, ""},
	} {
		if got, err := p.Env(c.keys...); err != nil || !maps.Equal(got, c.want) {
			t.Errorf("%q: %v, %v", c.keys, got, err)
		}
		if got := a.since(); got != c.asked {
			t.Errorf("%q: asked for %q, want %q", c.keys, got, c.asked)
		}
	}
}

// TestNewFilesAreReadWithTheOthers: files that were cached before are read again, so that all are of one reading.
func TestNewFilesAreReadWithTheOthers(t *testing.T) {
	a := &asked{FakeProcess: FakeProcess{Files: []OpenFile{{FD: 1, Path: "/a.db"}, {FD: 2, Path: "/b.log"}, {FD: 3, Path: "/a.db"}, {FD: 4, Path: "/c"}}}}
	p := one(a)()
	for _, c := range []struct{ suffix, want, asked string }{
		{".db", "1 3", "files:/a.db,/a.db"},
		{".db", "1 3", ""},
		{".none", "", ""},
		{".log", "2", "files:/a.db,/b.log,/a.db"},
		{".db", "1 3", ""},
		{"", "1 2 3 4", "files:/a.db,/b.log,/a.db,/c"},
	} {
		var shown int
		files, err := p.OpenFiles(func(name string) bool { shown++; return strings.HasSuffix(name, c.suffix) })
		var fds []string
		for _, f := range files {
			fds = append(fds, fmt.Sprint(f.FD))
		}
		if got := strings.Join(fds, " "); got != c.want || err != nil || shown < len(a.Files) {
			t.Errorf("%q: %s of %d shown, %v", c.suffix, got, shown, err)
		}
		if got := a.since(); got != c.asked {
			t.Errorf("%q: asked for %q, want %q", c.suffix, got, c.asked)
		}
	}
}
