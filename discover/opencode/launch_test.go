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
	"agentctl/tests/must"
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
		must.Do(t, os.WriteFile(binary, make([]byte, 2<<20), 0o755))
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
	s.Model, s.Source, s.Meta = "a/b", "run", discover.Facts{"agent": "plan", "variant": "high"}
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
	legacy := resumed(func(s *discover.Session) { s.Meta = discover.Facts{"legacy": true} })
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
		{"1.18.33", launch.Request{Resume: legacy}, "in JSON files", ""},
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

// These are outputs of 1.18.33.
func TestParseOutput(t *testing.T) {
	const (
		step    = `{"type":"step_start","timestamp":1795222482129,"sessionID":"ses_e0466da6bffe0gBsbSC3BXIGZw","part":{"id":"prt_1","sessionID":"ses_other"}}` + "\n"
		failed  = `{"type":"error","timestamp":1795222811705,"sessionID":"ses_e0466da6bffe0gBsbSC3BXIGZw","error":{"name":"APIError","data":{"message":"the model answers with status 401","statusCode":401}}}` + "\n"
		unknown = `{"type":"error","timestamp":1795222755978,"sessionID":"ses_e0466da6bffe0gBsbSC3BXIGZw","error":{"name":"UnknownError","data":{"message":"Unexpected server error. Check server logs for details.","ref":"err_f86f7547"}}}` + "\n"
		id      = "ses_e0466da6bffe0gBsbSC3BXIGZw"
	)
	for name, c := range map[string]struct {
		out, errs string
		want      launch.ParsedOutput
	}{
		"nothing":          {"", "", launch.ParsedOutput{}},
		"at work":          {step, "", launch.ParsedOutput{ID: id}},
		"a torn line":      {step[:90], "", launch.ParsedOutput{}},
		"an API error":     {step + failed, "", launch.ParsedOutput{ID: id, Error: "the model answers with status 401"}},
		"an unknown model": {unknown, "", launch.ParsedOutput{ID: id, Error: "Unexpected server error. Check server logs for details. (err_f86f7547)"}},
		"a warning":        {step, "\x1b[93m\x1b[1m! \x1b[0m agent \"x\" not found. Falling back to default agent\n", launch.ParsedOutput{ID: id}},
		"no session":       {"", "\x1b[91m\x1b[1mError: \x1b[0mSession not found\n", launch.ParsedOutput{Error: "Session not found"}},
		"a bad configuration": {
			"", "\n\x1b[91m\x1b[1mError: \x1b[0mConfiguration is invalid at /x/opencode.json\n↳ Expected string\n",
			launch.ParsedOutput{Error: "Configuration is invalid at /x/opencode.json\n↳ Expected string"},
		},
		"an error of OpenCode 2": { // READ 2.0.26
			`{"type":"error","timestamp":1795222755978,"sessionID":"","error":{"type":"unknown","message":"You must provide a message"}}` + "\n", "",
			launch.ParsedOutput{Error: "You must provide a message"},
		},
		"a bad flag": {"", "opencode run [message..]\n\nrun opencode with a message\n", launch.ParsedOutput{Error: "it does not understand its arguments, and printed its help"}},
	} {
		if got := New().ParseOutput(launch.Output{Stdout: []byte(c.out), Stderr: []byte(c.errs)}); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// Any output gives only texts that are in it, and a cut loses only the line that it is in.
func FuzzParseOutput(f *testing.F) {
	f.Add([]byte(`{"type":"error","sessionID":"ses_1","error":{}}`), []byte(errorPrefix+"x"))
	f.Fuzz(func(t *testing.T, out, errs []byte) {
		said := New().ParseOutput(launch.Output{Stdout: out, Stderr: errs})
		if said.ID != "" && (!isSessionID(said.ID) || !strings.Contains(string(out), sessionPrefix) && !strings.Contains(string(out), `\u`)) {
			t.Errorf("%q is no ID that was printed", said.ID)
		}
	})
}
