package opencode

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/tests/must"
)

// installedV2 puts OpenCode 2 into PATH, in npm's package or, without a version, as a program that prints its version only if it is asked.
func installedV2(t *testing.T, version string) launch.Environment {
	t.Helper()
	root := t.TempDir()
	bin := mkdir(t, filepath.Join(root, "bin"))
	script := "#!/bin/sh\n[ \"$*\" = --version ] && echo opencode v2.0.18\n"
	if version != "" {
		script = "#!/bin/sh\nexit 9\n"
		writeFile(t, filepath.Join(root, "package.json"), []byte(`{"name":"@opencode/cli-linux-x64","version":"`+version+`"}`))
	}
	must.Do(t, os.WriteFile(filepath.Join(bin, "opencode"), []byte(script), 0o755))
	return launch.Environment{Environ: []string{"PATH=" + bin + ":/bin:/usr/bin", "HOME=" + filepath.Join(root, "home")}}
}

// resumedV2 returns a session of OpenCode 2 in the home of an environment.
func resumedV2(host launch.Environment, change func(*discover.Session)) *discover.Session {
	return resumed(func(s *discover.Session) {
		s.Home = homeVariables().Dir(host.Getenv)
		s.Path, s.Meta = filepath.Join(s.Home, "opencode.db"), discover.Facts{"store": v2SessionTable, "agent": "plan"}
		if change != nil {
			change(s)
		}
	})
}

// How OpenCode 2 is started, and what is refused because its source has no way for it.
func TestV2Spec(t *testing.T) {
	host := installedV2(t, "2.0.26")
	elsewhere := func(s *discover.Session) { s.Path = filepath.Join(s.Home, "opencode-local.db") }
	claimed := func(s *discover.Session) { s.Meta = s.Meta.With("claimed", true) }
	for name, test := range map[string]struct {
		request launch.Request
		want    string // the arguments, or why not
		hint    string
	}{
		"new":          {launch.Request{Model: "a/b#high", Name: "T", Permissions: launch.PermissionsFull}, "run --format json --title T --model a/b#high --auto", "not yet seen"},
		"headless":     {launch.Request{Permissions: launch.PermissionsOwn}, "run --format json", "denies"},
		"edit":         {launch.Request{Permissions: launch.PermissionsEdit}, "! edits only", ""},
		"resume":       {launch.Request{Resume: resumedV2(host, nil)}, "run --format json --session ses_1", ""},
		"cut off":      {launch.Request{Resume: resumedV2(host, claimed)}, "run --format json --session ses_1", "goes on with the turn"},
		"fork":         {launch.Request{Resume: resumedV2(host, nil), Fork: true}, "run --format json --session ses_1 --fork", ""},
		"terminal":     {launch.Request{Resume: resumedV2(host, nil), Interactive: true}, "--session ses_1", ""},
		"copy there":   {launch.Request{Resume: resumedV2(host, nil), Interactive: true, Fork: true}, "! makes no copy", ""},
		"moved":        {launch.Request{Resume: resumedV2(host, nil), Moved: true}, "! own directory", ""},
		"other store":  {launch.Request{Resume: resumedV2(host, elsewhere)}, "! another database", ""},
		"OpenCode 1's": {launch.Request{Resume: resumed(nil)}, "! opencode 1 stores this session", ""},
	} {
		spec, err := New().Spec(test.request, host)
		got := ""
		if _, unable := errors.AsType[*launch.UnsupportedError](err); unable {
			got = "! " + err.Error()
		} else if err == nil {
			got = strings.Join(spec.Args[1:], " ")
		}
		want, refused := strings.CutPrefix(test.want, "! ")
		if refused && !(strings.HasPrefix(got, "! ") && strings.Contains(got, want)) || !refused && got != want || !strings.Contains(spec.Hint, test.hint) {
			t.Errorf("%s: %q, want %q; %v; hint %q", name, got, test.want, err, spec.Hint)
		}
		if r := test.request.Resume; err == nil && r != nil && (!spec.Resumed || (spec.ID == "") != test.request.Fork) {
			t.Errorf("%s: %+v", name, spec)
		}
	}
}

// A program that no package names is asked for its version if OpenCode 2 is in use: `run --session` of the other generation would make a session.
func TestV2Installation(t *testing.T) {
	host := installedV2(t, "")
	if _, err := New().Spec(launch.Request{Resume: resumed(nil)}, host); err != nil {
		t.Errorf("without a sign of OpenCode 2: %v", err)
	}
	writeFile(t, filepath.Join(mkdir(t, stateVariables().Dir(host.Getenv)), "service.json"), []byte(`{"pid":1}`))
	if _, err := New().Spec(launch.Request{Resume: resumed(nil)}, host); err == nil || !strings.Contains(err.Error(), "2.0.18") {
		t.Errorf("a session of OpenCode 1: %v", err)
	}
	if _, err := New().Spec(launch.Request{Resume: resumedV2(host, nil)}, host); err != nil {
		t.Errorf("a session of OpenCode 2: %v", err)
	}
	first, _ := installed(t, "1.18.33", "opencode.exe", true)
	if _, err := New().Spec(launch.Request{Resume: resumedV2(first, nil)}, first); err == nil || !strings.Contains(err.Error(), "1.18.33") {
		t.Errorf("a session of OpenCode 2, with OpenCode 1 installed: %v", err)
	}
}

// What OpenCode 2 does only through a service is refused while none runs: a command would start it, and it would go on with other turns. Messages are
// refused, too.
func TestV2WithoutService(t *testing.T) {
	host := installedV2(t, "2.0.26")
	writeFile(t, filepath.Join(mkdir(t, stateVariables().Dir(host.Getenv)), "service.json"), []byte(`{"pid":1,"password":"`+secret+`"}`))
	s := *resumedV2(host, nil)
	_, remove := New().StoreCommand(launch.ActionRemove, s, host)
	s.Shared, s.Status = true, discover.Running
	_, interrupt := New().Interrupt(t.Context(), s, host)
	_, attach := attachV2(t.Context(), s, host)
	_, answer := New().OpenRequests(t.Context(), s, host)
	for name, err := range map[string]error{"rm": remove, "stop": interrupt, "attach": attach, "answer": answer, "send": New().CheckSend(s, host)} {
		if _, unable := errors.AsType[*launch.UnsupportedError](err); !unable || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if New().NeedsInterrupt(s) {
		t.Error("a session without a service")
	}
}

func TestV2Marker(t *testing.T) {
	for name, test := range map[string]struct {
		environ []string
		want    discover.EnvMarker
	}{
		"OpenCode 2":       {[]string{sessionKey + "=" + v2Claimed}, discover.EnvMarker{Session: v2Claimed}},
		"OpenCode 1":       {[]string{pidKey + "=12"}, discover.EnvMarker{PID: 12}},
		"one in the other": {[]string{pidKey + "=12", sessionKey + "=" + v2Claimed}, discover.EnvMarker{}},
		"no session":       {[]string{sessionKey + "=x y"}, discover.EnvMarker{}},
	} {
		if got, ok := New().ReadMarker(launch.Environment{Environ: test.environ}.Getenv); got != test.want || ok != (test.want != discover.EnvMarker{}) {
			t.Errorf("%s: %+v, %v", name, got, ok)
		}
	}
}
