package opencode

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/launch"
)

// installed makes an installation as npm does, with a launcher or a placeholder in PATH and the binary in the platform's package. It returns
// an environment with that PATH.
func installed(t *testing.T, version, program string, binaries ...string) (host launch.Environment, modules string) {
	t.Helper()
	root := t.TempDir()
	modules = filepath.Join(root, "node_modules")
	write := func(size int, text string, path ...string) string {
		name := filepath.Join(append([]string{modules}, path...)...)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(name, int64(max(size, len(text)))); err != nil {
			t.Fatal(err)
		}
		return name
	}
	target := write(0, "#!/usr/bin/env node\n", "opencode-ai", "bin", program)
	write(0, `{"name":"opencode-ai","version":"`+version+`"}`, "opencode-ai", "package.json")
	for _, name := range binaries {
		write(2<<20, "", name, "bin", "opencode")
		write(0, `{"name":"`+name+`","version":"`+version+`"}`, name, "package.json")
	}
	bin := filepath.Join(root, "bin")
	if err := errors.Join(os.Mkdir(bin, 0o755), os.Symlink(target, filepath.Join(bin, "opencode"))); err != nil {
		t.Fatal(err)
	}
	return launch.Environment{Environ: []string{"PATH=" + bin, "HOME=/home/one"}}, modules
}

// platform returns the name of this platform's package.
func platform() string {
	return "opencode-" + runtime.GOOS + "-" + strings.ReplaceAll(runtime.GOARCH, "amd64", "x64")
}

func TestTheBinaryBehindTheLauncherIsRun(t *testing.T) {
	for program, binary := range map[string]string{"opencode": platform(), "opencode.exe": platform() + "-baseline"} {
		host, modules := installed(t, "1.1.65", program, binary)
		spec, err := New().Spec(launch.Request{Prompt: "x", Dir: "/srv"}, host)
		if want := filepath.Join(modules, binary, "bin", "opencode"); err != nil || spec.Args[0] != want {
			t.Errorf("%s: %q, %v, want %s", program, spec.Args, err, want)
		}
	}
}

func TestWithoutABinary(t *testing.T) {
	host, _ := installed(t, "1.1.65", "opencode")
	if spec, err := New().Spec(launch.Request{}, host); err != nil || filepath.Base(filepath.Dir(spec.Args[0])) != "bin" {
		t.Errorf("the launcher says why itself: %q, %v", spec.Args, err)
	}
	host, _ = installed(t, "1.18.33", "opencode.exe")
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
	host, _ := installed(t, "1.18.33", "opencode.exe", platform())
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
		{"1.1.65", launch.Request{Permissions: launch.PermissionsFull}, "has no mode without approvals", ""},
		{"1.3.2", launch.Request{Permissions: launch.PermissionsFull}, "has no mode without approvals", ""},
		{"1.17.0", launch.Request{Permissions: launch.PermissionsFull}, "", "--dangerously-skip-permissions"},
		{"1.17.0", launch.Request{Permissions: launch.PermissionsFull, Interactive: true}, "in a terminal", ""},
		{"1.18.33", launch.Request{Permissions: launch.PermissionsFull}, "", "--auto"},
		{"of our own", launch.Request{Permissions: launch.PermissionsFull}, "", "--auto"},
		{"1.1.65", launch.Request{Resume: legacy}, "", "--model=a/b"},
		{"1.18.33", launch.Request{Resume: legacy}, "of version 1.18.33 cannot go on with a session that an older one keeps in JSON files", ""},
		{"of our own", launch.Request{Resume: legacy}, "of version unknown cannot", ""},
		{"1.1.65", launch.Request{Resume: legacy, Moved: true}, "", "--model=a/b"},
		{"1.18.33", launch.Request{Resume: resumed(nil), Moved: true}, "opencode export ses_1 > FILE && opencode import FILE", ""},
	} {
		host, _ := installed(t, c.version, "opencode.exe", platform())
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
