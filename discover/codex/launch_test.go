package codex

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/launch"
	"agentctl/tests/must"
)

// installed creates an empty executable file and returns its path.
func installed(t *testing.T, path string) string {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must.Do(t, os.WriteFile(path, nil, 0o755))
	return path
}

// hostWith returns an environment with codex in PATH and a home.
func hostWith(dir string) launch.Environment {
	return launch.Environment{Environ: []string{"PATH=" + dir, "HOME=/home/someone"}}
}

// stoppedSession returns a stored session with these facts.
func stoppedSession(meta discover.Facts) *discover.Session {
	return &discover.Session{Record: &discover.Record{
		Agent: "codex", ID: someID, Home: "/home/someone/.codex", Dir: "/w", Model: "gpt", Meta: meta,
	}}
}

// Each launch request becomes the command line that Codex needs for it.
func TestSpec(t *testing.T) {
	dir := t.TempDir()
	program := installed(t, filepath.Join(dir, "codex"))
	const full = `{network_access=true,writable_roots=["/more \"room\""],exclude_tmpdir_env_var=true,exclude_slash_tmp=false}`
	const usual = `{network_access=false,writable_roots=[],exclude_tmpdir_env_var=false,exclude_slash_tmp=false}`
	for name, test := range map[string]struct {
		launch.Request
		want string
	}{
		"own":        {launch.Request{Prompt: "-x"}, "exec -C /w --json -"},
		"edit":       {launch.Request{Model: "m", Permissions: launch.PermissionsEdit}, "exec -m m -s workspace-write -C /w --json -"},
		"full":       {launch.Request{Permissions: launch.PermissionsFull}, "exec --dangerously-bypass-approvals-and-sandbox -C /w --json -"},
		"own flags":  {launch.Request{Args: []string{"-i", "a.png"}}, "exec -i a.png -C /w --json -"},
		"no turn":    {launch.Request{Resume: stoppedSession(nil)}, "exec -m gpt -C /w --json resume " + someID + " -"},
		"model":      {launch.Request{Resume: stoppedSession(nil), Model: "m"}, "exec -m m -C /w --json resume " + someID + " -"},
		"fork":       {launch.Request{Resume: stoppedSession(nil), Fork: true}, "exec -m gpt -C /w --json fork " + someID + " -"},
		"provider":   {launch.Request{Resume: stoppedSession(discover.Facts{"provider": "p"})}, `exec -c model_provider="p" -m gpt -C /w --json resume ` + someID + " -"},
		"read-only":  {launch.Request{Resume: stoppedSession(discover.Facts{"sandbox": "read-only", "approval": "never"})}, "exec -m gpt -s read-only -C /w --json resume " + someID + " -"},
		"everything": {launch.Request{Resume: stoppedSession(discover.Facts{"sandbox": "danger-full-access"})}, "exec -m gpt -s danger-full-access -C /w --json resume " + someID + " -"},
		"workspace":  {launch.Request{Resume: stoppedSession(discover.Facts{"sandbox": "workspace-write", "permissionProfile": ":workspace"})}, "exec -m gpt -s workspace-write -c sandbox_workspace_write=" + usual + " -C /w --json resume " + someID + " -"},
		"wider": {
			launch.Request{Resume: stoppedSession(discover.Facts{"sandbox": "workspace-write", "workspace": workspaceAccess{WritableRoots: []string{`/more "room"`}, Network: true, ExcludeTmpdir: true}})},
			"exec -m gpt -s workspace-write -c sandbox_workspace_write=" + full + " -C /w --json resume " + someID + " -",
		},
		"a person's profile": {launch.Request{Resume: stoppedSession(discover.Facts{"sandbox": "workspace-write", "permissionProfile": "mine"})}, `exec -m gpt -c default_permissions="mine" -C /w --json resume ` + someID + " -"},
		"asked for all":      {launch.Request{Resume: stoppedSession(discover.Facts{"sandbox": "danger-full-access", "approval": "untrusted"})}, "exec -m gpt -s read-only -C /w --json resume " + someID + " -"},
		"no turn, profile":   {launch.Request{Resume: stoppedSession(discover.Facts{"sandbox": ":read-only", "permissionProfile": ":read-only"})}, "exec -m gpt -s read-only -C /w --json resume " + someID + " -"},
		"asked to edit":      {launch.Request{Resume: stoppedSession(discover.Facts{"sandbox": "read-only"}), Permissions: launch.PermissionsEdit}, "exec -m gpt -s workspace-write -C /w --json resume " + someID + " -"},
		"interactive":        {launch.Request{Resume: stoppedSession(discover.Facts{"sandbox": "read-only", "provider": "p"}), Interactive: true}, "resume " + someID + " -C /w"},
		"interactive, asked": {launch.Request{Resume: stoppedSession(nil), Interactive: true, Fork: true, Model: "m", Permissions: launch.PermissionsEdit}, "fork " + someID + " -m m -s workspace-write -C /w"},
	} {
		test.Dir = "/w"
		spec, err := New().Spec(test.Request, hostWith(dir))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := strings.Join(spec.Args, " "); got != program+" "+test.want {
			t.Errorf("%s:\n%s, want\n%s", name, got, program+" "+test.want)
		}
		resumed := test.Resume != nil && !test.Fork && !test.Interactive
		if spec.Stdin != test.Prompt || spec.Dir != "/w" || spec.Resumed != resumed || resumed != (spec.ID == someID) {
			t.Errorf("%s: %+v", name, spec)
		}
	}
}

// A request that Codex cannot fulfil is refused, and no request grants more than was asked for.
func TestUnsupported(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "vendor", targetTriple(), "codex", "codex")
	installed(t, old)
	must.Do(t, os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"name":"x","version":"0.146.0-linux-x64"}`), 0o644))
	archived := stoppedSession(nil)
	archived.Archived = true
	for name, test := range map[string]struct {
		launch.Request
		say string
	}{
		"name":       {launch.Request{Name: "n"}, "/rename"},
		"archived":   {launch.Request{Resume: archived}, "agentctl unarchive " + someID},
		"outside":    {launch.Request{Resume: stoppedSession(discover.Facts{"sandbox": "external-sandbox"})}, "--permissions"},
		"older fork": {launch.Request{Resume: stoppedSession(nil), Fork: true}, "codex fork " + someID},
	} {
		_, err := New().Spec(test.Request, hostWith(filepath.Dir(old)))
		if e := (*launch.UnsupportedError)(nil); !errors.As(err, &e) || !strings.Contains(err.Error(), test.say) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for version, want := range map[string]string{"0.129.0": "0.129.0 is older than supported (0.130): update", "0.130.0": "<nil>"} {
		_, err := New().Spec(launch.Request{}, hostWith(installedVersion(t, version)))
		if !strings.HasSuffix(fmt.Sprint(err), want) {
			t.Errorf("%s: %v", version, err)
		}
	}
	_, err := New().Spec(launch.Request{}, hostWith(t.TempDir()))
	if e := (*launch.NotInstalledError)(nil); !errors.As(err, &e) {
		t.Errorf("without codex: %v", err)
	}
}

// A version without a daemon forgets the settings of a session in its terminal interface: they are passed again.
func TestInteractiveBeforeDaemon(t *testing.T) {
	r := launch.Request{Resume: stoppedSession(discover.Facts{"sandbox": "read-only"}), Interactive: true}
	for version, want := range map[string]string{"0.155.0": "-m gpt -s read-only", "0.169.0": "", "": ""} {
		if flags, err := settingsArgs(r, installation{version: storage.ParseVersion(version)}); err != nil || strings.Join(flags, " ") != want {
			t.Errorf("%s: %q, %v", version, flags, err)
		}
	}
}

// A session of another home is resumed with CODEX_HOME set.
func TestSpecSetsHome(t *testing.T) {
	dir := t.TempDir()
	installed(t, filepath.Join(dir, "codex"))
	s := stoppedSession(nil)
	for home, want := range map[string][]string{"/home/someone/.codex": nil, "/other": {"CODEX_HOME=/other"}} {
		s.Home = home
		spec, err := New().Spec(launch.Request{Resume: s}, hostWith(dir))
		if err != nil || !slices.Equal(spec.Env, want) {
			t.Errorf("%s: %q, %v", home, spec.Env, err)
		}
	}
}

// The binary is started without npm's launcher in the known layouts only.
func TestFindProgram(t *testing.T) {
	platform := filepath.Base(filepath.Dir(vendorDirs("/x")[0]))
	for name, test := range map[string]struct{ script, binary, want string }{
		"beside":   {"m/node_modules/@openai/codex/bin/codex.js", "m/node_modules/@openai/" + platform + "/vendor/" + targetTriple() + "/bin/codex", "CODEX_MANAGED_BY_NPM=1 CODEX_MANAGED_PACKAGE_ROOT=%/m/node_modules/@openai/codex"},
		"within":   {"m/node_modules/@openai/codex/bin/codex.js", "m/node_modules/@openai/codex/node_modules/@openai/" + platform + "/vendor/" + targetTriple() + "/bin/codex", "CODEX_MANAGED_BY_NPM=1 CODEX_MANAGED_PACKAGE_ROOT=%/m/node_modules/@openai/codex"},
		"older":    {"m/node_modules/@openai/codex/bin/codex.js", "m/node_modules/@openai/codex/vendor/" + targetTriple() + "/codex/codex", "CODEX_MANAGED_BY_NPM=1 PATH=%/m/node_modules/@openai/codex/vendor/" + targetTriple() + "/path:%/path"},
		"pnpm":     {"m/node_modules/.pnpm/c/node_modules/@openai/codex/bin/codex.js", "m/node_modules/.pnpm/c/node_modules/@openai/" + platform + "/vendor/" + targetTriple() + "/bin/codex", "CODEX_MANAGED_BY_PNPM=1 CODEX_MANAGED_PACKAGE_ROOT=%/m/node_modules/.pnpm/c/node_modules/@openai/codex"},
		"no npm":   {"m/libexec/codex.js", "m/vendor/" + targetTriple() + "/bin/codex", ""},
		"unlike":   {"m/node_modules/@openai/codex/bin/codex.js", "m/node_modules/@openai/codex/elsewhere/codex", ""},
		"a binary": {"m/bin/the-codex", "m/bin/the-codex", ""},
	} {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		must.Do(t, err)
		script, binary := installed(t, filepath.Join(dir, test.script)), installed(t, filepath.Join(dir, test.binary))
		link := filepath.Join(dir, "path", "codex")
		must.Do(t, errors.Join(os.Mkdir(filepath.Dir(link), 0o755), os.Symlink(script, link)))
		p, err := findInstallation(hostWith(filepath.Dir(link)))
		want := link
		if test.want != "" {
			want = binary
		}
		if env := strings.Join(p.env, " "); err != nil || p.path != want || env != strings.ReplaceAll(test.want, "%", dir) {
			t.Errorf("%s: %+v, %v; want %s %s", name, p, err, want, test.want)
		}
	}
}

// The output of real agents (SEEN 0.104, 0.169) gives the thread's ID and the error.
func TestParseOutput(t *testing.T) {
	const (
		noise   = "WARNING: proceeding, even though we could not create PATH aliases: Refusing to create helper binaries\n"
		started = `{"type":"thread.started","thread_id":"` + someID + `"}` + "\n" + `{"type":"turn.started"}` + "\n"
		retry   = `{"type":"error","message":"Reconnecting... 1/5 (unexpected status 401 Unauthorized: no, url: http://x/v1/responses)"}` + "\n"
		log     = "2026-11-21T00:58:40.223768Z ERROR codex_api::endpoint::responses_websocket: failed to connect to Responses WebSocket stage=Unknown\n"
	)
	for name, test := range map[string]struct {
		stdout, stderr string
		want           launch.ParsedOutput
	}{
		"nothing":         {"", noise, launch.ParsedOutput{}},
		"begun":           {started, noise + "Reading prompt from stdin...\n", launch.ParsedOutput{ID: someID}},
		"retries":         {started + retry, noise + log, launch.ParsedOutput{ID: someID}},
		"failed":          {started + retry + `{"type":"error","message":"the last"}` + "\n" + `{"type":"turn.failed","error":{"message":"unexpected status 401"}}` + "\n", noise + log, launch.ParsedOutput{ID: someID, Error: "unexpected status 401"}},
		"only an error":   {started + `{"type":"error","message":"Missing environment variable: ` + "`NO_KEY`" + `."}` + "\n", noise, launch.ParsedOutput{ID: someID, Error: "Missing environment variable: `NO_KEY`."}},
		"the API's words": {started + `{"type":"turn.failed","error":{"message":"{\"error\":{\"code\":\"x\",\"message\":\"no such model\"}}\n"}}`, noise, launch.ParsedOutput{ID: someID, Error: "no such model"}},
		"a detail":        {started + `{"type":"turn.failed","error":{"message":"{\"detail\":\"not with this account\"}"}}`, "", launch.ParsedOutput{ID: someID, Error: "not with this account"}},
		"a bad flag":      {"", noise + "error: unexpected argument '--zzz' found\n\n  tip: to pass '--zzz' as a value, use '-- --zzz'\n\nUsage: codex exec\n", launch.ParsedOutput{Error: "unexpected argument '--zzz' found"}},
		"bad settings":    {"", noise + "Error loading config.toml: unknown variant `bogus`\nin `sandbox_mode`\n\n", launch.ParsedOutput{Error: "Error loading config.toml: unknown variant `bogus` in `sandbox_mode`"}},
		"no provider":     {"", noise + "Error: Model provider `zzz` not found\n", launch.ParsedOutput{Error: "Model provider `zzz` not found"}},
		"ended well":      {started + retry + `{"type":"turn.completed","usage":{}}` + "\n", noise + "some words\n", launch.ParsedOutput{ID: someID}},
		"one file":        {noise + started + "Error: broken\n", noise + started + "Error: broken\n", launch.ParsedOutput{ID: someID, Error: "broken"}},
		"another's id":    {started + `{"type":"thread.started","thread_id":"01a1fa6a-5869-7310-8297-cbac269b6577"}`, "", launch.ParsedOutput{ID: someID}},
		"torn":            {started + `{"type":"turn.failed","error":{"mess`, "", launch.ParsedOutput{ID: someID}},
		"no id":           {`{"type":"thread.started","thread_id":"../x"}`, "", launch.ParsedOutput{}},
	} {
		if got := (Adapter{}).ParseOutput(launch.Output{Stdout: []byte(test.stdout), Stderr: []byte(test.stderr)}); got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

func FuzzParseOutput(f *testing.F) {
	f.Add([]byte(`{"type":"thread.started","thread_id":"`+someID+`"}`), []byte("Error: x"))
	f.Add([]byte(`{"type":"turn.failed","error":{"message":"{\"error\":{\"message\":\"x\"}}"}}`), []byte("\x00"))
	f.Fuzz(func(t *testing.T, stdout, stderr []byte) {
		said := Adapter{}.ParseOutput(launch.Output{Stdout: stdout, Stderr: stderr})
		if said.ID != "" && !isThreadID(said.ID) {
			t.Errorf("%q is no id", said.ID)
		}
		more := Adapter{}.ParseOutput(launch.Output{Stdout: append(append([]byte{}, stdout...), "\n{\"type\":\"turn.failed\",\"err"...), Stderr: stderr})
		if more != said {
			t.Errorf("a torn last line changes %+v to %+v", said, more)
		}
	})
}
