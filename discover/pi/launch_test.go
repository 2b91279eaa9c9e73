package pi

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

// installed makes an installation as npm does, and returns the environment that has it.
func installed(t *testing.T, version string) launch.Environment {
	t.Helper()
	dir := home(t, map[string]string{
		"pi-coding-agent/package.json":       `{"name":"@earendil-works/pi-coding-agent","version":"` + version + `"}`,
		"pi-coding-agent/dist/bundle/cli.js": "#!/usr/bin/env node\n",
	})
	script := filepath.Join(dir, "pi-coding-agent/dist/bundle/cli.js")
	if err := errors.Join(os.Chmod(script, 0o700), os.Mkdir(dir+"/bin", 0o700), os.Symlink(script, dir+"/bin/pi")); err != nil {
		t.Fatal(err)
	}
	return launch.Environment{Environ: []string{"PATH=" + dir + "/bin", "HOME=/u"}}
}

// How Pi is started for what is asked.
func TestSpec(t *testing.T) {
	path := "/u/.pi/agent/sessions/--w--/" + nameA
	stored := &discover.Session{Record: &discover.Record{ID: "s1", Path: path, Home: "/u/.pi/agent", Dir: "/w"}}
	elsewhere := &discover.Session{Record: &discover.Record{ID: "s1", Path: "/h/sessions/--w--/" + nameA, Home: "/h", Dir: "/w"}}
	flat := &discover.Session{Record: &discover.Record{ID: "s1", Path: "/flat/" + nameA, Home: "/flat", Dir: "/w"}}
	for name, test := range map[string]struct {
		request launch.Request
		want    string // arguments and variables; ID is the one that was chosen
		hint    bool
	}{
		"new":               {launch.Request{Prompt: "x"}, "-p --mode json --session-id ID / AGENTCTL_PI_SESSION=ID", true},
		"model, name":       {launch.Request{Prompt: "x", Model: "p/m", Name: "-n"}, "-p --mode json --session-id ID --model p/m --name -n / AGENTCTL_PI_SESSION=ID", true},
		"full":              {launch.Request{Prompt: "x", Permissions: launch.PermissionsFull}, "-p --mode json --session-id ID / AGENTCTL_PI_SESSION=ID", false},
		"read only":         {launch.Request{Prompt: "x", Args: []string{"--tools", "read"}}, "-p --mode json --session-id ID --tools read / AGENTCTL_PI_SESSION=ID", false},
		"resumed":           {launch.Request{Prompt: "x", Resume: stored}, "-p --mode json --session " + path + " / AGENTCTL_PI_SESSION=" + path, true},
		"of another home":   {launch.Request{Prompt: "x", Resume: elsewhere}, "-p --mode json --session /h/sessions/--w--/" + nameA + " / PI_CODING_AGENT_DIR=/h AGENTCTL_PI_SESSION=/h/sessions/--w--/" + nameA, true},
		"session directory": {launch.Request{Prompt: "x", Resume: flat}, "-p --mode json --session /flat/" + nameA + " / AGENTCTL_PI_SESSION=/flat/" + nameA, true},
		"in the terminal":   {launch.Request{Interactive: true, Resume: stored}, "--session " + path + " /", false},
		"a copy":            {launch.Request{Prompt: "x", Resume: stored, Fork: true, Moved: true}, "-p --mode json --fork " + path + " --session-id ID / AGENTCTL_PI_SESSION=ID", true},
	} {
		if test.request.Permissions == "" {
			test.request.Permissions = launch.PermissionsOwn
		}
		test.request.Dir = "/w"
		spec, err := New().Spec(test.request, installed(t, "1.5.2"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := strings.Join(slices.Concat(spec.Args[1:], []string{"/"}, spec.Env), " ")
		if resumed := test.request.Resume != nil; spec.Resumed != resumed || (resumed && !test.request.Fork) != (spec.ID == "s1") {
			t.Errorf("%s: %+v", name, spec)
		}
		got = strings.ReplaceAll(got, spec.ID, "ID")
		if want := strings.ReplaceAll(test.want, spec.ID, "ID"); got != want || (spec.Hint != "") != test.hint || spec.Stdin != test.request.Prompt || spec.Dir != "/w" {
			t.Errorf("%s: %s, want %s; %+v", name, got, want, spec)
		}
	}
}

// What Pi cannot do is refused before anything starts.
func TestRefusedRequests(t *testing.T) {
	stored := &discover.Session{Record: &discover.Record{ID: "s1", Path: "/h/sessions/--w--/" + nameA, Home: "/h", Dir: "/w"}}
	for name, test := range map[string]struct {
		version string
		request launch.Request
		want    string
	}{
		"edit":        {"1.5.2", launch.Request{Permissions: launch.PermissionsEdit}, "has no approvals"},
		"session":     {"1.5.2", launch.Request{Args: []string{"--session-id", "x"}}, "--session-id here"},
		"moved":       {"1.5.2", launch.Request{Resume: stored, Moved: true}, "only in its own directory"},
		"not stored":  {"1.5.2", launch.Request{Resume: &discover.Session{Record: &discover.Record{ID: "s1"}}}, "not stored"},
		"old version": {"0.73.1", launch.Request{}, "0.73.1 is older than supported"},
	} {
		_, err := New().Spec(test.request, installed(t, test.version))
		if unsupported, ok := errors.AsType[*launch.UnsupportedError](err); !ok || !strings.Contains(unsupported.What, test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := New().Spec(launch.Request{}, launch.Environment{}); !errors.As(err, new(*launch.NotInstalledError)) {
		t.Error(err)
	}
}

// What Pi prints names the session and says why it failed. Its warnings are no failure.
func TestParseOutput(t *testing.T) {
	end := func(line string) string {
		return strings.Replace(line, `"type":"message"`, `"type":"message_end"`, 1) + "\n"
	}
	const warning = "Warning: No project session found with id 's1'; creating a new session with that id.\n"
	for name, test := range map[string]struct {
		stdout, stderr string
		want           launch.ParsedOutput
	}{
		"begun":           {headerLine + "\n{\"type\":\"agent_start\"}\n", warning, launch.ParsedOutput{ID: "s1"}},
		"answered":        {headerLine + "\n" + end(userLine) + end(answerLine), warning + "some noise\n", launch.ParsedOutput{ID: "s1"}},
		"failed":          {headerLine + "\n" + end(userLine) + end(errorLine), warning, launch.ParsedOutput{ID: "s1", Error: "500: no"}},
		"retried":         {headerLine + "\n" + end(userLine) + end(errorLine) + end(answerLine), "", launch.ParsedOutput{ID: "s1"}},
		"no model":        {"", warning + "Error: Model \"x\" not found.\n", launch.ParsedOutput{Error: `Model "x" not found.`}},
		"no key":          {"", "No API key found for the selected model.\n\nUse /login\n", launch.ParsedOutput{Error: "No API key found for the selected model."}},
		"old node":        {"", "file:///x/cli.js:2\nimport { y }\nSyntaxError: no export\n", launch.ParsedOutput{Error: "SyntaxError: no export"}},
		"half a line":     {headerLine[:40], "", launch.ParsedOutput{}},
		"an ID that lies": {strings.Replace(headerLine, `"s1"`, `"../x"`, 1) + "\n", "", launch.ParsedOutput{}},
	} {
		if got := New().ParseOutput(launch.Output{Stdout: []byte(test.stdout), Stderr: []byte(test.stderr)}); got != test.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func FuzzParseOutput(f *testing.F) {
	f.Add([]byte(headerLine+"\n"+errorLine+"\n"), []byte("Error: x\n"))
	f.Fuzz(func(t *testing.T, stdout, stderr []byte) {
		if p := New().ParseOutput(launch.Output{Stdout: stdout, Stderr: stderr}); p.ID != "" && !isSessionID(p.ID) || len([]rune(p.Error)) > discover.ErrorLimit {
			t.Fatalf("%+v", p)
		}
	})
}
