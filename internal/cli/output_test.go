package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/proc"
	"agentctl/tests/schema"
)

// valid fails the test unless text is JSON that the schema's part takes.
func valid(t *testing.T, part, text string) {
	t.Helper()
	if err := schema.Check(part, text); err != nil {
		t.Error(err)
	}
}

func TestOutputFollowsSchema(t *testing.T) {
	for args, name := range map[string]string{
		"list --json":                        "sessions",
		"list -a --since all --json":         "sessions",
		"list --status stopped -n1 --json":   "sessions",
		"list --group none --json":           "sessions",
		"status aaaaaaaa-1 --json":           "session",
		"status pid:20 --json --explain":     "session",
		"status aaaaaaaa-2 --json --explain": "session",
		"current --json":                     "session",
		"version --json":                     "version",
		"doctor --json":                      "doctor",
	} {
		env, out := testEnv(t)
		if got := Run(t.Context(), env, strings.Fields(args)...); got != 0 {
			t.Errorf("%s: exit %d", args, got)
		}
		valid(t, name, out.stdout.String())
	}
	for _, args := range []string{"list --json x", "status --json nothing", "status --json cccccccc"} {
		env, out := testEnv(t)
		Run(t.Context(), env, strings.Fields(args)...)
		valid(t, "error", out.stderr.String())
	}
}

func TestListSelects(t *testing.T) {
	for args, want := range map[string]string{
		"":                                  "aaaaaaaa-1",
		"-a":                                "aaaaaaaa-1 aaaaaaaa-2 cccccccc cccccccc",
		"--since 90m":                       "aaaaaaaa-1 aaaaaaaa-2",
		"-a --since all":                    "aaaaaaaa-1 aaaaaaaa-2 cccccccc cccccccc dddddddd",
		"-a -n2":                            "aaaaaaaa-1 aaaaaaaa-2", // beside them lives one that has none
		"-a --adapter claude-code":          "",
		"--adapter codex":                   "aaaaaaaa-1",
		"--status stopped":                  "aaaaaaaa-2 cccccccc cccccccc",
		"--status running,idle":             "aaaaaaaa-1",
		"--status idle":                     "",
		"--group g":                         "",
		"--status waiting --status stopped": "aaaaaaaa-2 cccccccc cccccccc",
	} {
		env, out := testEnv(t)
		if got := Run(t.Context(), env, strings.Fields("list -q "+args)...); got != 0 {
			t.Errorf("%s: exit %d, %s", args, got, out.stderr.String())
		}
		if got := strings.Join(strings.Fields(out.stdout.String()), " "); got != want {
			t.Errorf("%s: %s, want %s", args, got, want)
		}
	}
}

// --cwd asks for the worktree, whichever way it is named.
func TestListInDirectory(t *testing.T) {
	env, out := testEnv(t)
	s := env.Adapters[1].(stub)
	repo, link := s.records[0].Dir, filepath.Join(t.TempDir(), "link")
	sub := filepath.Join(repo, "sub")
	for _, err := range []error{
		os.MkdirAll(filepath.Join(repo, ".git"), 0o755), os.WriteFile(filepath.Join(repo, ".git", "HEAD"), nil, 0o600),
		os.Mkdir(sub, 0o755), os.Symlink(sub, link),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for dir, want := range map[string]string{repo: "aaaaaaaa-1\n", sub: "aaaaaaaa-1\n", link: "aaaaaaaa-1\n", t.TempDir(): ""} {
		out.stdout.Reset()
		if Run(t.Context(), env, "list", "-q", "--cwd", dir); out.stdout.String() != want {
			t.Errorf("%s: %q", dir, out.stdout.String())
		}
	}
}

func TestEmptyListSpeaksOnTerminalOnly(t *testing.T) {
	env, out := testEnv(t)
	env.Adapters = nil
	for _, tc := range []struct {
		args  string
		width int
		want  string
	}{
		{"list", 80, "agentctl: no live sessions; agentctl list -a shows stopped ones too\n"},
		{"list -a", 80, "agentctl: no sessions; agentctl list -a --since all looks further back\n"},
		{"list", 0, ""},
		{"list -q", 80, ""},
	} {
		out.stderr.Reset()
		env.Width = tc.width
		if got := Run(t.Context(), env, strings.Fields(tc.args)...); got != 0 || out.stdout.Len() > 0 || out.stderr.String() != tc.want {
			t.Errorf("%+v: %d %q %q", tc, got, out.stdout.String(), out.stderr.String())
		}
	}
}

func TestStatusOfProcess(t *testing.T) {
	env, out := testEnv(t)
	s := env.Adapters[1].(stub)
	other := s.records[1]
	s.claims = append(s.claims, discover.Claim{
		Agent: "codex", Process: s.claims[0].Process, Home: s.home, Session: other.ID, Path: other.Path,
		Strength: discover.Exact, Kind: "writer-lock",
	})
	env.Adapters = []discover.Adapter{s}
	if Run(t.Context(), env, "status", "pid:10", "--json"); strings.Count(out.stdout.String(), "\n") != 2 {
		t.Errorf("two sessions: %s", out.stdout.String())
	}
	for line := range strings.Lines(out.stdout.String()) {
		valid(t, "session", line)
	}
	out.stdout.Reset()
	if Run(t.Context(), env, "status", "pid:10"); strings.Count(out.stdout.String(), "\nid  ")+strings.Count("\n"+out.stdout.String(), "\nid  ") < 3 {
		t.Errorf("two blocks: %s", out.stdout.String())
	}
}

func TestCurrent(t *testing.T) {
	for pid, tc := range map[int]struct {
		exit        int
		stdout, err string
	}{
		1000: {0, "aaaaaaaa-1\n", ""},
		21:   {8, "", "agentctl: error: this is inside claude-code, but no evidence names the session\n"},
		1:    {8, "", "agentctl: error: this is not inside a session\n"},
	} {
		env, out := testEnv(t)
		env.PID = pid
		if got := Run(t.Context(), env, "current", "-q"); got != tc.exit || out.stdout.String() != tc.stdout || out.stderr.String() != tc.err {
			t.Errorf("pid %d: exit %d, %q, %q", pid, got, out.stdout.String(), out.stderr.String())
		}
	}
}

func TestVersion(t *testing.T) {
	info := &debug.BuildInfo{Main: debug.Module{Version: "v0.1.0"}, Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "2026-11-20T00:00:00Z"}, {Key: "vcs.modified", Value: "true"},
	}}
	if b := buildOf("", info); b.Version != "v0.1.0" || b.Revision != "abc" || !b.Modified || b.BuiltFrom == "" {
		t.Errorf("%+v", b)
	}
	if text := buildOf("", info).commit(); text != "commit abc with changes, " {
		t.Error(text)
	}
	if b := buildOf("v1.2.3", info); b.Version != "v1.2.3" {
		t.Errorf("the stamp does not win: %+v", b)
	}
	if b := buildOf("", nil); b.Version != "(devel)" {
		t.Errorf("%+v", b)
	}
	env, out := testEnv(t)
	env.Version = "v1.2.3"
	if Run(t.Context(), env, "version"); !strings.HasPrefix(out.stdout.String(), "agentctl v1.2.3 (go1.") {
		t.Error(out.stdout.String())
	}
}

func TestDoctor(t *testing.T) {
	root := t.TempDir()
	pkg := filepath.Join(root, "lib", "node_modules", "agent")
	bin := filepath.Join(root, "bin")
	for _, dir := range []string{filepath.Join(pkg, "bin"), bin, filepath.Join(root, "empty")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range map[string]string{
		filepath.Join(pkg, "package.json"): `{"name":"agent","version":"1.2.3-rc.1"}`,
		filepath.Join(pkg, "bin", "codex"): "#!/bin/sh\ntouch " + root + "/it-was-run\n",
		filepath.Join(bin, "claude"):       "not executable",
	} {
		mode := os.FileMode(0o755)
		if filepath.Base(path) == "claude" {
			mode = 0o644
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(pkg, "bin", "codex"), filepath.Join(bin, "codex")); err != nil {
		t.Fatal(err)
	}
	env, out := testEnv(t)
	env = setenv(env, "PATH", strings.Join([]string{filepath.Join(root, "empty"), bin, filepath.Join(pkg, "bin"), "relative"}, ":"))
	doctor := []verb{{name: "doctor", make: newDoctor}}
	if got := runApp(t.Context(), env, doctor, []string{"doctor", "--json"}); got != 0 {
		t.Fatalf("exit %d, %s", got, out.stderr.String())
	}
	var f findings
	if err := json.Unmarshal(out.stdout.Bytes(), &f); err != nil {
		t.Fatal(err)
	}
	claude, codex := f.Agents[0], f.Agents[1]
	if len(claude.Binaries) != 0 {
		t.Errorf("claude: %+v", claude.Binaries)
	}
	real, _ := filepath.EvalSymlinks(filepath.Join(pkg, "bin", "codex"))
	want := binary{filepath.Join(bin, "codex"), real, "1.2.3-rc.1"}
	if len(codex.Binaries) != 1 || codex.Binaries[0] != want {
		t.Errorf("codex: %+v, want %+v", codex.Binaries, want)
	}
	h := codex.Homes[0]
	if h.Path != "/h/codex" || h.Exists || h.Sessions != 5 || h.Live != 1 || h.Bytes != 500 || h.Formats[0] != "jsonl" || h.Newest != "2026-11-20T11:59:00.000Z" {
		t.Errorf("home: %+v", h)
	}
	check := f.Processes.CrossCheck
	if check == nil || check.Compared != 7 || !slices.Equal(check.Differences, []proc.Difference{{PID: 12, Name: "x) R 1", Text: "missing in go-ps"}}) {
		t.Errorf("cross-check: %+v", check)
	}
	f.Processes.CrossCheck = nil
	if f.Processes != (processFindings{Seen: 6, Agents: 2}) {
		t.Errorf("processes: %+v", f.Processes)
	}
	if _, err := os.Stat(filepath.Join(root, "it-was-run")); err == nil {
		t.Error("the program was run")
	}
	out.stdout.Reset()
	runApp(t.Context(), env, doctor, []string{"doctor"})
	for _, want := range []string{"\ncodex\n  program   " + bin, "version 1.2.3-rc.1\n", "  program   none in PATH\n", "  file      none (looked for ", "  go-ps     7 compared, 1 difference\n            pid 12 (x) R 1): missing in go-ps\n"} {
		if !strings.Contains("\n"+out.stdout.String(), want) {
			t.Errorf("no %q in\n%s", want, out.stdout.String())
		}
	}
}

func TestVersionWords(t *testing.T) {
	for s, want := range map[string]bool{
		"1.2.3": true, "2.1.197": true, "1.2.3-rc.1": true, "1.2": false, "v1.2.3": false, "": false, "a.b.c": false, "1..3": false,
	} {
		if isVersion(s) != want {
			t.Errorf("%q", s)
		}
	}
}
