package claudecode

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/discover/native"
	"agentctl/launch"
)

// installed puts a program where a release has it, and returns an environment whose PATH leads there.
func installed(t *testing.T, release string, variables ...string) (host launch.Environment, program string) {
	t.Helper()
	root := t.TempDir()
	pkg := filepath.Join(root, "node_modules", "@anthropic-ai", "claude-code")
	file := filepath.Join(pkg, "bin", "claude.exe")
	manifest := `{"name":"@anthropic-ai/claude-code","version":"` + release + `"}`
	must(t, os.MkdirAll(filepath.Dir(file), 0o755))
	must(t, os.WriteFile(filepath.Join(pkg, "package.json"), []byte(manifest), 0o600))
	must(t, os.WriteFile(file, make([]byte, placeholderLimit+1), 0o755))
	must(t, os.MkdirAll(filepath.Join(root, "bin"), 0o755))
	program = filepath.Join(root, "bin", "claude")
	must(t, os.Symlink(file, program))
	return launch.Environment{Environ: append([]string{"PATH=/nowhere:" + filepath.Dir(program), "HOME=/h"}, variables...)}, program
}

// TestSpecOfALaunch has the command line for each request. The prompt is in none of them.
func TestSpecOfALaunch(t *testing.T) {
	host, program := installed(t, "2.1.329")
	for want, r := range map[string]launch.Request{
		"-p --session-id ID": {Permissions: launch.PermissionsOwn},
		"-p --session-id ID --permission-mode=acceptEdits":  {Permissions: launch.PermissionsEdit},
		"-p --session-id ID --dangerously-skip-permissions": {Permissions: launch.PermissionsFull},
		"-p --session-id ID --model=m --name=-n --verbose --allowedTools Bash": {
			Permissions: launch.PermissionsOwn, Model: "m", Name: "-n", Args: []string{"--verbose", "--allowedTools", "Bash"},
		},
	} {
		r.Prompt, r.Dir = "--help", "/w"
		spec, err := New().Spec(r, host)
		must(t, err)
		got := strings.ReplaceAll(strings.Join(spec.Args[1:], " "), spec.ID, "ID")
		if got != want || spec.Args[0] != program || spec.Stdin != "--help" || spec.Dir != "/w" || spec.Resumed || len(spec.Env) > 0 {
			t.Errorf("%+v\nwant %s", spec, want)
		}
		if !New().MatchesID(spec.ID) {
			t.Errorf("%s is no random UUID", spec.ID)
		}
		if hint := spec.Hint != ""; hint != (r.Permissions == launch.PermissionsOwn && !strings.Contains(want, "allowedTools")) {
			t.Errorf("%s: the hint is %q", want, spec.Hint)
		}
	}
}

// TestSpecOfAResume: a resume sets what Claude Code forgets, and runs in the directory that the project folder is named
// after.
func TestSpecOfAResume(t *testing.T) {
	project := t.TempDir()
	session := discover.Session{Record: &discover.Record{
		ID: alive, Home: "/h/.claude", Path: "/h/.claude/projects/-w/t.jsonl", Dir: "/w/now", Model: "m",
		Meta: discover.Facts{{modeMeta, "plan"}, {dirMeta, project}},
	}}
	gone := discover.Session{Record: &discover.Record{
		ID: alive, Home: "/h/.claude", Path: session.Path, Dir: "/w/now", Meta: discover.Facts{{dirMeta, project + "/gone"}},
	}}
	other := discover.Session{Record: &discover.Record{ID: alive, Home: "/elsewhere", Dir: "/w/now", Model: "m"}}
	for _, test := range []struct {
		release, env string
		session      discover.Session
		request      launch.Request
		want, dir    string
	}{
		{"2.1.329", "", session, launch.Request{}, "-p --resume SELF --permission-mode=plan", project},
		{"2.1.329", "ANTHROPIC_MODEL=x", session, launch.Request{}, "-p --resume SELF --model=m --permission-mode=plan", project},
		{"2.1.329", "", session, launch.Request{Model: "n", Permissions: launch.PermissionsEdit}, "-p --resume SELF --model=n --permission-mode=acceptEdits", project},
		{"2.1.329", "", session, launch.Request{Args: []string{"--settings=x"}}, "-p --resume SELF --settings=x", project},
		{"2.1.329", "", session, launch.Request{Interactive: true}, "--resume SELF --permission-mode=plan", project},
		{"2.1.329", "", session, launch.Request{Fork: true}, "-p --resume SELF --fork-session --session-id ID --permission-mode=plan", project},
		{"2.1.329", "", session, launch.Request{Moved: true}, "-p --resume PATH --permission-mode=plan", "/w/now"},
		{"2.1.197", "", session, launch.Request{Moved: true, Interactive: true}, "--resume PATH --permission-mode=plan", "/w/now"},
		{"2.1.132", "", session, launch.Request{Moved: true, Fork: true}, "-p --resume PATH --fork-session --session-id ID --permission-mode=plan", "/w/now"},
		{"2.1.329", "", gone, launch.Request{}, "-p --resume PATH", "/w/now"},
		{"2.1.329", "", other, launch.Request{}, "-p --resume SELF", "/w/now"},
		{"2.1.329", "CLAUDE_CONFIG_DIR=/elsewhere", other, launch.Request{}, "-p --resume SELF", "/w/now"},
	} {
		host, _ := installed(t, test.release, test.env)
		r := test.request
		r.Resume, r.Dir = &test.session, "/w/now"
		if r.Permissions == "" {
			r.Permissions = launch.PermissionsOwn
		}
		spec, err := New().Spec(r, host)
		must(t, err)
		got := strings.ReplaceAll(strings.Join(spec.Args[1:], " "), alive, "SELF")
		got = strings.ReplaceAll(got, session.Path, "PATH")
		if got = strings.ReplaceAll(got, spec.ID, "ID"); got != test.want || spec.Dir != test.dir {
			t.Errorf("%s: %s in %s, want %s in %s", test.release, got, spec.Dir, test.want, test.dir)
		}
		if spec.Resumed == r.Fork || (spec.ID == alive) == r.Fork {
			t.Errorf("%s: ID %s, resumed %v", got, spec.ID, spec.Resumed)
		}
		var want []string
		if test.session.Home == "/elsewhere" && test.env == "" {
			want = []string{"CLAUDE_CONFIG_DIR=/elsewhere"}
		}
		if !slices.Equal(spec.Env, want) {
			t.Errorf("%s: environment %q, want %q", got, spec.Env, want)
		}
	}
}

// TestSpecRefuses: requests that Claude Code cannot carry out are errors before anything is started.
func TestSpecRefuses(t *testing.T) {
	moved := discover.Session{Record: &discover.Record{ID: alive, Home: "/h/.claude", Path: "/h/.claude/projects/-w/t.jsonl", Dir: "/w"}}
	for _, test := range []struct {
		release string
		request launch.Request
		ok      bool
	}{
		{"2.1.131", launch.Request{}, false},
		{oldestSupported, launch.Request{}, true},
		{"2.1.132", launch.Request{Moved: true, Resume: &moved}, false},
		{"2.1.132", launch.Request{Moved: true, Fork: true, Resume: &moved}, true},
		{"2.1.197", launch.Request{Moved: true, Resume: &moved}, true},
		{"2.1.329", launch.Request{Args: []string{"--session-id", "x"}}, false},
		{"2.1.329", launch.Request{Args: []string{"--resume=x"}}, false},
		{"2.1.329", launch.Request{Prompt: strings.Repeat("x", promptLimit)}, true},
		{"2.1.329", launch.Request{Prompt: strings.Repeat("x", promptLimit+1)}, false},
	} {
		host, _ := installed(t, test.release)
		_, err := New().Spec(test.request, host)
		if unsupported := errors.As(err, new(*launch.UnsupportedError)); unsupported == test.ok || err != nil && !unsupported {
			t.Errorf("%s, %.50v: %v", test.release, test.request, err)
		}
	}
	_, err := New().Spec(launch.Request{}, launch.Environment{Environ: []string{"PATH=/nowhere"}})
	if !errors.As(err, new(*launch.NotInstalledError)) {
		t.Errorf("without a program: %v", err)
	}
	host, program := installed(t, "2.1.329")
	must(t, os.Truncate(program, 500))
	_, err = New().Spec(launch.Request{}, host)
	if !errors.As(err, new(*launch.NotInstalledError)) || !strings.Contains(err.Error(), "claude-code/install.cjs") {
		t.Errorf("with npm's placeholder: %v", err)
	}
}

func TestInstalledVersion(t *testing.T) {
	_, program := installed(t, "2.1.197")
	installer := filepath.Join(t.TempDir(), "claude", "versions", "2.1.260")
	must(t, os.MkdirAll(filepath.Dir(installer), 0o755))
	must(t, os.WriteFile(installer, nil, 0o755))
	for path, want := range map[string]native.Version{program: {2, 1, 197}, installer: {2, 1, 260}, "/bin/sh": {}, "/nowhere": {}} {
		if got := installedVersion(path); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
