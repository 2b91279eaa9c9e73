package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/proc"
	"agentctl/tests/must"
)

func TestDoctor(t *testing.T) {
	root := t.TempDir()
	pkg := filepath.Join(root, "lib", "node_modules", "agent")
	bin := filepath.Join(root, "bin")
	for _, dir := range []string{filepath.Join(pkg, "bin"), bin, filepath.Join(root, "empty")} {
		must.Do(t, os.MkdirAll(dir, 0o755))
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
		must.Do(t, os.WriteFile(path, []byte(text), mode))
	}
	must.Do(t, os.Symlink(filepath.Join(pkg, "bin", "codex"), filepath.Join(bin, "codex")))
	f, out := testEnv(t)
	f = Setenv(f, "PATH", strings.Join([]string{filepath.Join(root, "empty"), bin, filepath.Join(pkg, "bin"), "relative"}, ":"))
	if got := Run(t.Context(), f, "doctor", "--json"); got != 0 {
		t.Fatalf("exit %d, %s", got, out.Stderr.String())
	}
	var found findings
	must.Do(t, json.Unmarshal(out.Stdout.Bytes(), &found))
	claude, codex := found.Agents[0], found.Agents[1]
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
	check := found.Processes.CrossCheck
	if check == nil || check.Compared != 7 || !slices.Equal(check.Differences, []proc.Difference{{PID: 12, Name: "x) R 1", Text: "missing in go-ps"}}) {
		t.Errorf("cross-check: %+v", check)
	}
	found.Processes.CrossCheck = nil
	if found.Processes != (processFindings{Seen: 6, Agents: 2}) {
		t.Errorf("processes: %+v", found.Processes)
	}
	if _, err := os.Stat(filepath.Join(root, "it-was-run")); err == nil {
		t.Error("the program was run")
	}
	out.Stdout.Reset()
	Run(t.Context(), f, "doctor")
	for _, want := range []string{"\ncodex\n  program   " + bin, "version 1.2.3-rc.1\n", "  program   none in PATH\n", "  file      none (looked for ", "  go-ps     7 compared, 1 difference\n            pid 12 (x) R 1): missing in go-ps\n"} {
		if !strings.Contains("\n"+out.Stdout.String(), want) {
			t.Errorf("no %q in\n%s", want, out.Stdout.String())
		}
	}
}

// changingStub is an agent that has changed since it was tried. Each of its live sessions has the same kinds.
type changingStub struct {
	Stub
	version string
	kinds   []string
}

func (s changingStub) Tried() discover.Tried {
	return discover.Tried{
		Newest: "1.2.0", ProgramVersion: func(string) string { return s.version },
		UnknownKinds: func(context.Context, discover.Record) ([]string, error) { return s.kinds, nil },
	}
}

// TestDoctorWarnsOfNewerAgents once for each agent, whatever there is to say, and with the exit code 0.
func TestDoctorWarnsOfNewerAgents(t *testing.T) {
	for _, x := range []struct {
		version string
		kinds   []string
		want    string
	}{
		{},
		{"1.3.0", nil, "agentctl: warning: codex: a live session runs 1.3.0, and agentctl was tested up to 1.2.0; what it says of them may be incomplete\n"},
		{"1.3.0", []string{"z\x1b[2J", "a", "a"}, "agentctl: warning: codex: a live session runs 1.3.0, and agentctl was tested up to 1.2.0; " +
			"live sessions have records of kinds that agentctl does not know: a, z; what it says of them may be incomplete\n"},
	} {
		f, out := testEnv(t)
		f.Adapters[1] = changingStub{f.Adapters[1].(Stub), x.version, x.kinds}
		code := Run(t.Context(), f, "doctor")
		if got := out.Stderr.String(); code != 0 || got != x.want {
			t.Errorf("exit %d, %q, want %q", code, got, x.want)
		}
		if !strings.Contains(out.Stdout.String(), "\n  tested    up to version 1.2.0\n") || strings.Count(out.Stdout.String(), "tested") != 1 {
			t.Error(out.Stdout.String())
		}
		out.Stdout.Reset()
		Run(t.Context(), f, "doctor", "--json")
		CheckSchema(t, "doctor", out.Stdout.String())
		var found findings
		must.Do(t, json.Unmarshal(out.Stdout.Bytes(), &found))
		if got := found.Agents[1]; got.NewestTried != "1.2.0" || x.version != "" && !slices.Equal(got.NewerVersions, []string{x.version}) ||
			len(got.UnknownKinds) != min(2, len(x.kinds)) || found.Agents[0].NewestTried != "" {
			t.Errorf("%+v", found.Agents)
		}
	}
}
