package launch

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/proc"
)

func TestTheEnvironmentHasNoMarkersOfAgents(t *testing.T) {
	h := NewEnvironment([]string{"A=1", "PUPPET=x", "PUPPET_MARK_PID=3", "PUPPET_HOME=/h", "A=2"}, []discover.Adapter{puppets{}}, "B=3", "PUPPET=mine")
	if want := []string{"A=1", "PUPPET_HOME=/h", "A=2", "B=3", "PUPPET=mine"}; !slices.Equal(h.Environ, want) {
		t.Errorf("%q", h.Environ)
	}
	if h.Getenv("A") != "2" || h.Getenv("PUPPET") != "mine" || h.Getenv("C") != "" {
		t.Errorf("%q", h.Environ)
	}
}

func TestLookPath(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	for path, mode := range map[string]fs.FileMode{one + "/agent": 0o644, two + "/agent": 0o755, two + "/other": 0o755} {
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(one+"/other", 0o755); err != nil {
		t.Fatal(err)
	}
	h := Environment{[]string{"PATH=" + one + "::" + two}}
	for _, name := range []string{"agent", "other"} {
		if path, err := h.LookPath(name); err != nil || path != filepath.Join(two, name) {
			t.Errorf("%s: %s, %v", name, path, err)
		}
	}
	if _, err := h.LookPath("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// The child has nothing of ours but its environment.
func TestStartDetaches(t *testing.T) {
	p := puppets{store: t.TempDir()}
	c := stage(t, p, "run a", never)
	table, err := proc.ReadTable(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	x, ok := table.Find(c.Process.ID)
	if !ok || x.Session != x.ID.PID || x.Group != x.ID.PID {
		t.Errorf("%+v", x)
	}
	files, err := x.OpenFiles(func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.FD <= 2 && !f.Deleted || f.FD > 2 && strings.HasPrefix(f.Path, "pipe:") {
			t.Errorf("fd %d is %s", f.FD, f.Path)
		}
	}
	env, err := x.Env("PWD")
	dir, err2 := x.Cwd()
	if err != nil || err2 != nil || env["PWD"] != dir {
		t.Errorf("PWD %q, at work in %q: %v, %v", env["PWD"], dir, err, err2)
	}
}

func TestStartKeepsOutput(t *testing.T) {
	p := puppets{store: t.TempDir()}
	path := filepath.Join(t.TempDir(), "out")
	write(path, "before\n")
	spec, err := p.Spec(Request{Prompt: "print one\ncomplain two\nprint three\n", Dir: t.TempDir()}, Environment{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := (&Plan{Spec: spec, Environment: Environment{os.Environ()}}).Execute(path)
	if err != nil {
		t.Fatal(err)
	}
	<-c.Done()
	if o := c.readOutput(); string(o.Stdout) != "one\ntwo\nthree\n" || string(o.Stderr) != string(o.Stdout) {
		t.Errorf("%q, %q", o.Stdout, o.Stderr)
	}
	c.Close()
	if text, err := os.ReadFile(path); string(text) != "before\none\ntwo\nthree\n" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestStartFails(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/broken", []byte("nonsense"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, spec := range []Spec{
		{Args: []string{dir + "/missing"}, Dir: dir},
		{Args: []string{dir + "/broken"}, Dir: dir},
		{Args: []string{self()}, Dir: dir + "/missing"},
	} {
		if c, err := (&Plan{Spec: spec, Environment: Environment{os.Environ()}}).Execute(""); err == nil {
			t.Errorf("%q has started", spec.Args)
			_ = c.KillTree(context.Background())
		}
	}
	if _, err := (&Plan{Spec: Spec{Args: []string{self()}, Dir: dir}}).Execute(dir); err == nil {
		t.Error("a directory was taken for an output file")
	}
}

// Of an endless output the beginning and the end are read.
func TestOutputIsBounded(t *testing.T) {
	f, err := AnonymousFile("test")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("first\n" + strings.Repeat("x", 3<<20) + "\nlast\n"); err != nil {
		t.Fatal(err)
	}
	got := string(outputFile{file: f}.read())
	if len(got) != headLimit+tailLimit || !strings.HasPrefix(got, "first\n") || !strings.HasSuffix(got, "\nlast\n") {
		t.Errorf("%d bytes", len(got))
	}
}
