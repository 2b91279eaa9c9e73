package cli

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"agentctl/discover"
)

// A finished session that has left changes behind says so; with none there, or no repository, there is nothing to say.
func TestStatusShowsChanges(t *testing.T) {
	f, out := testEnv(t)
	f.Environ = os.Environ()
	codex := f.Adapters[1].(Stub)
	repo := t.TempDir()
	codex.Records[1].Dir = repo
	status := func(args ...string) string {
		out.Stdout.Reset()
		if got := Run(t.Context(), f, append([]string{"status", "aaaaaaaa-2"}, args...)...); got != 0 {
			t.Fatalf("exit %d: %s", got, out.Stderr.String())
		}
		return out.Stdout.String()
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
		CheckSchema(t, "session", got)
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
	f, out := testEnv(t)
	f.Environ = os.Environ()
	repo := t.TempDir()
	for _, a := range f.Adapters {
		for i := range a.(Stub).Records {
			a.(Stub).Records[i].Dir = repo
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"config", "core.repositoryFormatVersion", "99"}} {
		if said, err := exec.Command("git", append([]string{"-C", repo}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, said)
		}
	}
	for _, args := range [][]string{{"status", "aaaaaaaa-2", "--json"}, {"list", "-a", "--wide", "--json"}, {"status", "aaaaaaaa-2"}} {
		out.Stdout.Reset()
		out.Stderr.Reset()
		got, warning := Run(t.Context(), f, args...), repo+": what is not committed is not known: "
		if said := out.Stderr.String(); got != 6 || strings.Count(said, warning) != 1 || !strings.Contains(said, "version") {
			t.Errorf("%q: exit %d: %s", args, got, said)
		}
		if said := out.Stdout.String(); !strings.Contains(said, "aaaaaaaa-2") || strings.Contains(said, `"changes"`) {
			t.Errorf("%q: %s", args, said)
		}
	}
	if got := out.Stdout.String(); !strings.Contains(got, "\nchanges      not known: ") {
		t.Error(got)
	}
}

func TestStatusOfProcess(t *testing.T) {
	f, out := testEnv(t)
	s := f.Adapters[1].(Stub)
	other := s.Records[1]
	s.ClaimList = append(s.ClaimList, discover.Claim{
		Agent: "codex", Process: s.ClaimList[0].Process, Home: s.HomeList[0].Dir, Session: other.ID, Path: other.Path,
		Strength: discover.Exact, Kind: "writer-lock",
	})
	f.Adapters = []discover.Adapter{s}
	if Run(t.Context(), f, "status", "pid:10", "--json"); strings.Count(out.Stdout.String(), "\n") != 2 {
		t.Errorf("two sessions: %s", out.Stdout.String())
	}
	for line := range strings.Lines(out.Stdout.String()) {
		CheckSchema(t, "session", line)
	}
	out.Stdout.Reset()
	if Run(t.Context(), f, "status", "pid:10"); strings.Count(out.Stdout.String(), "\nid  ")+strings.Count("\n"+out.Stdout.String(), "\nid  ") < 3 {
		t.Errorf("two blocks: %s", out.Stdout.String())
	}
}

// The reason is that of the status, whichever process decides it.
func TestExplain(t *testing.T) {
	f, out := testEnv(t)
	s := f.Adapters[1].(Stub)
	r, p := s.Records[1], s.ClaimList[0].Process
	claim := func(pid int, strength discover.Strength, turn discover.TurnState) discover.Claim {
		c := discover.Claim{
			Agent: "codex", Process: p, Home: s.HomeList[0].Dir, Session: r.ID, Path: r.Path, Strength: strength, Kind: "writer-lock", Turn: &discover.Turn{State: turn},
		}
		c.Process.PID = pid
		return c
	}
	for want, claims := range map[string][]discover.Claim{
		"why: processes 10, 12 are live; process 12 shows that the turn is blocked on the user\n":                      {claim(10, discover.Exact, discover.TurnDone), claim(12, discover.Exact, discover.TurnWaiting)},
		"why: whether a process runs it is not known: process 13 may (ambiguous: several processes fit the session)\n": {claim(13, discover.Weak, discover.TurnDone), claim(14, discover.Weak, discover.TurnDone)},
	} {
		out.Stdout.Reset()
		s.ClaimList = claims
		f := WithChildren(f)
		f.Adapters = []discover.Adapter{s}
		if Run(t.Context(), f, "status", r.ID, "--explain"); !strings.Contains(out.Stdout.String(), want) {
			t.Errorf("not %q:\n%s%s", want, out.Stdout.String(), out.Stderr.String())
		}
	}
}
