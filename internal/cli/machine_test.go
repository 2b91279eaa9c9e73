package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/internal/output"
	"agentctl/proc"
)

// working makes the session aaaaaaaa-1 of testEnv a busy one: a tool below its process with a server, one process that
// may not be read, and below that the agent of another session.
func working(env Env) Env {
	shell, server, foreign, inner := process(11, 10), process(12, 11), process(13, 10), process(14, 13)
	shell.Arguments = []string{"sh", "-c", strings.Repeat("é", 300)}
	shell.ResourceUsage = proc.Usage{CPU: 100 * time.Millisecond, Memory: 1 << 20}
	server.Arguments, server.Ports = []string{"server", "--port", "3000"}, []int{3000}
	server.ResourceUsage = proc.Usage{CPU: 90 * time.Second, Memory: 3 << 20}
	foreign.Err, foreign.Name = fs.ErrPermission, "sudo"
	inner.ResourceUsage = proc.Usage{CPU: time.Hour, Memory: 1 << 30}
	table := proc.NewFakeTable(process(1, 0), process(10, 1), shell, server, foreign, inner, process(20, 1), process(1000, 1))
	codex := env.Adapters[1].(stub)
	codex.claims = append(codex.claims, discover.Claim{
		Agent: "codex", Process: inner.ID, Session: "aaaaaaaa-2", Path: codex.records[1].Path, Strength: discover.Exact,
	})
	env.Adapters = []discover.Adapter{env.Adapters[0], codex}
	env.Take = func(context.Context) (*proc.Table, error) { return table, nil }
	return env
}

func TestStatusShowsProcesses(t *testing.T) {
	env, out := testEnv(t)
	if got := Run(t.Context(), working(env), "status", "aaaaaaaa-1", "--json"); got != 0 {
		t.Fatalf("exit %d: %s", got, out.stderr.String())
	}
	valid(t, "session", out.stdout.String())
	var s output.Session
	if err := json.Unmarshal(out.stdout.Bytes(), &s); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range s.Processes {
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, string(text))
	}
	want := `{"pid":10,"ppid":1,"name":"","startedAt":"2026-11-20T11:00:00.000Z","cpu":0,"memory":0}
{"pid":11,"ppid":10,"name":"","command":"sh -c ` + strings.Repeat("é", 193) + `…","startedAt":"2026-11-20T11:00:00.000Z","cpu":0.1,"memory":1048576}
{"pid":12,"ppid":11,"name":"","command":"server --port 3000","startedAt":"2026-11-20T11:00:00.000Z","cpu":90,"memory":3145728,"ports":[3000]}
{"pid":13,"ppid":10,"name":"sudo","startedAt":"2026-11-20T11:00:00.000Z"}
{"pid":14,"ppid":13,"name":"","startedAt":"2026-11-20T11:00:00.000Z","adapter":"codex","sessions":["aaaaaaaa-2"]}`
	if got := strings.Join(got, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Neither whether a session lives, nor which one this is, takes a look at processes.
func TestAliveAndCurrentShowNoProcesses(t *testing.T) {
	env, out := testEnv(t)
	env = working(env)
	if got := Run(t.Context(), env, "status", "aaaaaaaa-1", "--alive"); got != 0 || out.stdout.Len() > 0 {
		t.Errorf("exit %d: %s", got, out.stdout.String())
	}
	env.PID = 12
	if got := Run(t.Context(), env, "current", "--json"); got != 0 || strings.Contains(out.stdout.String(), "processes") {
		t.Errorf("exit %d: %s", got, out.stdout.String())
	}
}

// A finished session that has left changes behind says so; with none there, or no repository, there is nothing to say.
func TestStatusShowsChanges(t *testing.T) {
	env, out := testEnv(t)
	env.Environ = os.Environ()
	codex := env.Adapters[1].(stub)
	repo := t.TempDir()
	codex.records[1].Dir = repo
	status := func(args ...string) string {
		out.stdout.Reset()
		if got := Run(t.Context(), env, append([]string{"status", "aaaaaaaa-2"}, args...)...); got != 0 {
			t.Fatalf("exit %d: %s", got, out.stderr.String())
		}
		return out.stdout.String()
	}
	if got := status("--json"); strings.Contains(got, "changes") {
		t.Error(got)
	}
	if said, err := exec.Command("git", "-C", repo, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	if err := os.WriteFile(repo+"/new", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := status(); !strings.Contains(got, "\nchanges      1 untracked\n") {
		t.Error(got)
	}
	if got := status("--json"); !strings.Contains(got, "\"changes\": {\n    \"changed\": 0,\n    \"untracked\": 1\n  }") {
		t.Error(got)
	} else {
		valid(t, "session", got)
	}
	if said, err := exec.Command("git", "-C", repo, "config", "filter.x.clean", "x").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	if got := status(); !strings.Contains(got, "\nchanges      not known: the repository's configuration names a filter program") {
		t.Error(got)
	}
}

// A git that does not answer costs one warning, however many sessions work there, and the fact alone.
func TestGitThatFails(t *testing.T) {
	env, out := testEnv(t)
	env.Environ = os.Environ()
	repo := t.TempDir()
	for _, a := range env.Adapters {
		for i := range a.(stub).records {
			a.(stub).records[i].Dir = repo
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"config", "core.repositoryFormatVersion", "99"}} {
		if said, err := exec.Command("git", append([]string{"-C", repo}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
	}
	for _, args := range [][]string{{"status", "aaaaaaaa-2", "--json"}, {"list", "-a", "--wide", "--json"}, {"status", "aaaaaaaa-2"}} {
		out.stdout.Reset()
		out.stderr.Reset()
		got, warning := Run(t.Context(), env, args...), repo+": what is not committed is not known: "
		if said := out.stderr.String(); got != 6 || strings.Count(said, warning) != 1 || !strings.Contains(said, "version") {
			t.Errorf("%q: exit %d: %s", args, got, said)
		}
		if said := out.stdout.String(); !strings.Contains(said, "aaaaaaaa-2") || strings.Contains(said, `"changes"`) {
			t.Errorf("%q: %s", args, said)
		}
	}
	if got := out.stdout.String(); !strings.Contains(got, "\nchanges      not known: ") {
		t.Error(got)
	}
}

// A process that ends between the look and the question is left out.
func TestGoneProcessIsLeftOut(t *testing.T) {
	gone := process(12, 10)
	gone.Err = proc.ErrGone
	table := proc.NewFakeTable(process(10, 1), gone)
	tree := []discover.ProcessNode{}
	for p := range table.All() {
		tree = append(tree, discover.ProcessNode{Process: p})
	}
	if got := processes(tree); len(got) != 1 || got[0].PID != 10 {
		t.Errorf("%+v", got)
	}
}

// list --wide has it for every row, and is no form of its own.
func TestListWide(t *testing.T) {
	env, out := testEnv(t)
	env = working(env)
	if got := Run(t.Context(), env, "list", "--wide", "--json"); got != 0 {
		t.Fatalf("exit %d: %s", got, out.stderr.String())
	}
	valid(t, "sessions", out.stdout.String())
	var list []output.Session
	if err := json.Unmarshal(out.stdout.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	trees := map[string]int{}
	for _, s := range list {
		if s.ID != nil {
			trees[*s.ID] = len(s.Processes)
		}
	}
	if trees["aaaaaaaa-1"] != 5 || trees["aaaaaaaa-2"] != 1 || len(list) != 3 {
		t.Errorf("%v", out.stdout.String())
	}
	out.stdout.Reset()
	if got := Run(t.Context(), env, "list", "--wide"); got != 0 || !strings.Contains(out.stdout.String(), "    1m  1m30s  4.0 MiB  3000 ") {
		t.Errorf("exit %d:\n%s", got, out.stdout.String())
	}
	for _, form := range []string{"-q", "--format={{.id}}"} {
		if got := Run(t.Context(), env, "list", "--wide", form); got != 2 {
			t.Errorf("%s: exit %d", form, got)
		}
	}
	out.stdout.Reset()
	if got := Run(t.Context(), env, "list", "--wide", "--group", "none", "--json"); got != 0 || out.stdout.String() != "[]\n" {
		t.Errorf("exit %d: %q", got, out.stdout.String())
	}
}

// Git is run where it has an answer only: in no directory without a repository, for no list but the wide one, and not to
// know whether a session lives, or what is in a container's directory.
func TestGitRunsOnDemand(t *testing.T) {
	env, out := testEnv(t)
	codex := env.Adapters[1].(stub)
	bin, repo := t.TempDir(), codex.records[0].Dir
	ran := bin + "/ran"
	if err := os.WriteFile(bin+"/git", []byte("#!/bin/sh\necho >>"+ran+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	env.Environ = []string{"PATH=" + bin}
	runs := func(args string) bool {
		out.stdout.Reset()
		if got := Run(t.Context(), env, strings.Fields(args)...); got != 0 {
			t.Fatalf("%s: exit %d: %s", args, got, out.stderr.String())
		}
		_, err := os.Stat(ran)
		_ = os.Remove(ran)
		return err == nil
	}
	for _, args := range []string{"status aaaaaaaa-1", "list --wide"} {
		if runs(args) {
			t.Errorf("%s asks git outside of a repository", args)
		}
	}
	if err := errors.Join(os.Mkdir(repo+"/.git", 0o700), os.WriteFile(repo+"/.git/HEAD", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]bool{
		"status aaaaaaaa-1": true, "status aaaaaaaa-1 --json": true, "list --wide": true, "list --wide --json": true,
		"status aaaaaaaa-1 --alive": false, "list": false, "list -a --json --tokens": false, "status pid:20": false,
	} {
		if runs(args) != want {
			t.Errorf("%s: git runs is not %v", args, want)
		}
	}
	contained := process(10, 1)
	contained.OtherRoot = true
	env.Take = func(context.Context) (*proc.Table, error) { return proc.NewFakeTable(process(1, 0), contained), nil }
	if runs("status aaaaaaaa-1") || runs("list --wide") {
		t.Error("git is asked of a container's directory")
	}
}
