package opencode

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/launch"
)

// installed makes an installation as npm does: a launcher or a placeholder in PATH, which hasBinary puts the agent itself beside (the launcher)
// or in the place of (the placeholder). It returns an environment with that PATH.
func installed(t *testing.T, version, program string, hasBinary bool) (host launch.Environment, modules string) {
	t.Helper()
	root := t.TempDir()
	modules = filepath.Join(root, "node_modules")
	dir := mkdir(t, filepath.Join(modules, "opencode-ai", "bin"))
	binary, target := filepath.Join(dir, program), filepath.Join(dir, program)
	if program == "opencode" {
		binary = filepath.Join(dir, ".opencode")
	}
	bin := filepath.Join(root, "bin")
	if err := errors.Join(
		os.WriteFile(target, []byte("#!/usr/bin/env node\n"), 0o755),
		os.WriteFile(filepath.Join(modules, "opencode-ai", "package.json"), []byte(`{"name":"opencode-ai","version":"`+version+`"}`), 0o644),
		os.Mkdir(bin, 0o755), os.Symlink(target, filepath.Join(bin, "opencode")),
	); err != nil {
		t.Fatal(err)
	}
	if hasBinary {
		if err := os.WriteFile(binary, make([]byte, 2<<20), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return launch.Environment{Environ: []string{"PATH=" + bin, "HOME=/home/one"}}, modules
}

func TestTheBinaryBehindTheLauncherIsRun(t *testing.T) {
	host, modules := installed(t, "1.14.41", "opencode", true)
	spec, err := New().Spec(launch.Request{Prompt: "x", Dir: "/srv"}, host)
	if want := filepath.Join(modules, "opencode-ai", "bin", ".opencode"); err != nil || spec.Args[0] != want {
		t.Errorf("%q, %v, want %s", spec.Args, err, want)
	}
}

func TestWithoutABinary(t *testing.T) {
	host, _ := installed(t, "1.14.41", "opencode", false)
	if spec, err := New().Spec(launch.Request{}, host); err != nil || filepath.Base(filepath.Dir(spec.Args[0])) != "bin" {
		t.Errorf("the launcher says why itself: %q, %v", spec.Args, err)
	}
	host, _ = installed(t, "1.18.33", "opencode.exe", false)
	var missing *launch.NotInstalledError
	if _, err := New().Spec(launch.Request{}, host); !errors.As(err, &missing) || !strings.Contains(err.Error(), "node postinstall.mjs") {
		t.Errorf("a stand-in: %v", err)
	}
	if _, err := New().Spec(launch.Request{}, launch.Environment{}); !errors.As(err, &missing) {
		t.Errorf("nothing: %v", err)
	}
}

// resumed returns a session to resume.
func resumed(change func(*discover.Session)) *discover.Session {
	s := new(discover.UnknownSession())
	s.ID, s.Home, s.Path = "ses_1", "/home/one/.local/share/opencode", "/home/one/.local/share/opencode/opencode.db"
	s.Model, s.Source, s.Meta = "a/b", "run", discover.Facts{{"agent", "plan"}, {"variant", "high"}}
	if change != nil {
		change(s)
	}
	return s
}

// A request becomes arguments and variables.
func TestSpec(t *testing.T) {
	host, _ := installed(t, "1.18.33", "opencode.exe", true)
	other := func(s *discover.Session) {
		s.Home, s.Path, s.Source, s.Meta = "/data/opencode", "/data/opencode/opencode-dev.db", "", nil
	}
	const silent = `"question":"deny","plan_enter":"deny","plan_exit":"deny"`
	for _, c := range []struct {
		name    string
		request launch.Request
		set     string
		words   []string
		env     []string
	}{
		{
			"everything",
			launch.Request{Model: "a/b/c", Name: "-n", Permissions: launch.PermissionsFull, Args: []string{"--thinking"}},
			"",
			[]string{"run", "--format", "json", "--title=-n", "--model=a/b/c", "--auto", "--thinking"},
			nil,
		},
		{
			"edit, over what the person set",
			launch.Request{Permissions: launch.PermissionsEdit},
			permissionKey + `= {"bash":"ask"} `,
			[]string{"run", "--format", "json"},
			[]string{permissionKey + `={"bash":"ask","edit":{"*":"allow"}}`},
		},
		{
			"edit, over what cannot be read",
			launch.Request{Permissions: launch.PermissionsEdit},
			permissionKey + `={"bash":`,
			[]string{"run", "--format", "json"},
			[]string{permissionKey + `={"edit":{"*":"allow"}}`},
		},
		{
			"resume",
			launch.Request{Resume: resumed(nil)},
			"",
			[]string{"run", "--format", "json", "--session=ses_1", "--model=a/b", "--agent=plan", "--variant=high"},
			nil,
		},
		{
			"resume with another model",
			launch.Request{Resume: resumed(nil), Fork: true, Model: "c/d"},
			"",
			[]string{"run", "--format", "json", "--session=ses_1", "--fork", "--model=c/d", "--agent=plan"},
			nil,
		},
		{
			"resume of a terminal's session in another home",
			launch.Request{Resume: resumed(other)},
			"",
			[]string{"run", "--format", "json", "--session=ses_1", "--model=a/b"},
			[]string{"XDG_DATA_HOME=/data", "OPENCODE_DB=/data/opencode/opencode-dev.db", permissionKey + "={" + silent + "}"},
		},
		{
			"resume in a terminal",
			launch.Request{Resume: resumed(other), Interactive: true},
			"XDG_DATA_HOME=/data",
			[]string{"--session=ses_1", "--model=a/b"},
			[]string{"OPENCODE_DB=/data/opencode/opencode-dev.db"},
		},
		{
			"resume with a database set",
			launch.Request{Resume: resumed(nil), Interactive: true},
			"OPENCODE_DB=/tmp/x.db",
			[]string{"--session=ses_1", "--model=a/b", "--agent=plan"},
			[]string{"OPENCODE_DB=/home/one/.local/share/opencode/opencode.db"},
		},
	} {
		c.request.Prompt, c.request.Dir = "the prompt", "/srv"
		h := host
		h.Environ = append(slices.Clone(h.Environ), c.set)
		spec, err := New().Spec(c.request, h)
		if err != nil || !slices.Equal(spec.Args[1:], c.words) || !slices.Equal(spec.Env, c.env) {
			t.Errorf("%s: %q with %q, %v\nwant %q with %q", c.name, spec.Args[1:], spec.Env, err, c.words, c.env)
		}
		known := c.request.Resume != nil && !c.request.Fork
		if spec.Resumed != (c.request.Resume != nil) || (spec.ID != "") != known || spec.Stdin != "the prompt" || spec.Dir != "/srv" {
			t.Errorf("%s: %+v", c.name, spec)
		}
	}
}

// What a version cannot do is an error before it is started.
func TestUnsupported(t *testing.T) {
	legacy := resumed(func(s *discover.Session) { s.Meta = discover.Facts{{"legacy", true}} })
	for _, c := range []struct {
		version string
		request launch.Request
		says    string
		words   string // in a version that can
	}{
		{"1.13.9", launch.Request{}, "1.13.9 is older than supported (1.14): update", ""},
		{"1.17.0", launch.Request{Permissions: launch.PermissionsFull}, "", "--dangerously-skip-permissions"},
		{"1.17.0", launch.Request{Permissions: launch.PermissionsFull, Interactive: true}, "in a terminal", ""},
		{"1.18.33", launch.Request{Permissions: launch.PermissionsFull}, "", "--auto"},
		{"of our own", launch.Request{Permissions: launch.PermissionsFull}, "", "--auto"},
		{"1.18.33", launch.Request{Resume: legacy}, "cannot go on with a session in JSON files", ""},
		{"1.18.33", launch.Request{Resume: resumed(nil), Moved: true}, "opencode export ses_1 > FILE && opencode import FILE", ""},
	} {
		host, _ := installed(t, c.version, "opencode.exe", true)
		spec, err := New().Spec(c.request, host)
		var cannot *launch.UnsupportedError
		switch {
		case c.says != "" && (!errors.As(err, &cannot) || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s, %+v: %v, want %q", c.version, c.request, err, c.says)
		case c.says == "" && (err != nil || spec.Args[len(spec.Args)-1] != c.words):
			t.Errorf("%s, %+v: %q, %v, want %q", c.version, c.request, spec.Args, err, c.words)
		}
	}
}
