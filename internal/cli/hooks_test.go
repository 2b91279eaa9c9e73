package cli

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/discover"
)

func TestAHookIsToldOfTheSession(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := discover.Session{Record: &discover.Record{
		ID: "id $HOME `x`", Agent: "codex", Dir: dir, Model: "m", Branch: "try/g/codex",
	}, Group: "g"}
	for _, tc := range []struct {
		exit *int
		want string
	}{
		{nil, "none"},
		{new(int), "0"},
	} {
		env, out := testEnv(t)
		env.Environ = []string{"PATH=/bin:/usr/bin", "MINE=kept", "AGENTCTL_MODEL=of another one"}
		script := `printf '%s\n' "$AGENTCTL_SESSION_ID" $AGENTCTL_ADAPTER $AGENTCTL_CWD $AGENTCTL_GROUP $AGENTCTL_MODEL ` +
			`$AGENTCTL_BRANCH $(pwd) $MINE ${AGENTCTL_EXIT_CODE-none}; cat; echo said >&2`
		if err := (hook{"--on-complete", script}).run(t.Context(), env, s, tc.exit); err != nil {
			t.Fatal(err)
		}
		want := strings.Join([]string{s.ID, "codex", dir, "g", "m", "try/g/codex", dir, "kept", tc.want, "said"}, "\n") + "\n"
		if out.stderr.String() != want || out.stdout.Len() > 0 {
			t.Errorf("%q, and on stdout %q; want %q", out.stderr.String(), out.stdout.String(), want)
		}
	}
}

// What comes out of a transcript may be no text for an environment.
func TestAHookIsToldOfOddNames(t *testing.T) {
	env, out := testEnv(t)
	env.Environ = []string{"PATH=/bin:/usr/bin"}
	s := discover.Session{Record: &discover.Record{ID: "1", Agent: "codex", Dir: "/w/a\x00b", Branch: strings.Repeat("é", 200_000)}}
	script := `printf '%s %s\n' "$AGENTCTL_CWD" "${#AGENTCTL_BRANCH}"; cat`
	if err := (hook{"--exec", script}).shell(t.Context(), env, "", []byte("{}"), hookVars(s)); err != nil {
		t.Fatal(err)
	}
	if got := out.stderr.String(); !strings.HasPrefix(got, "/w/ab ") || !strings.HasSuffix(got, "\n{}") {
		t.Errorf("%q", got)
	}
}

func TestAHookThatFailsIsNamed(t *testing.T) {
	env, _ := testEnv(t)
	s := discover.UnknownSession()
	s.Dir = t.TempDir()
	if err := (hook{"--on-create", ""}).run(t.Context(), env, s, nil); err != nil {
		t.Errorf("nothing fails with %v", err)
	}
	err := (hook{"--on-create", "exit 3"}).run(t.Context(), env, s, nil)
	if err == nil || err.Error() != "the script of --on-create failed: exit status 3" || exitOf(err) != exitFailed {
		t.Errorf("%v", err)
	}
	s.Dir = filepath.Join(s.Dir, "gone")
	if err := (hook{"--on-create", "true"}).run(t.Context(), env, s, nil); err == nil || !strings.Contains(err.Error(), "gone") {
		t.Errorf("%v", err)
	}
}

func TestAHookEndsWithTheCommand(t *testing.T) {
	env, _ := testEnv(t)
	s := discover.UnknownSession()
	s.Dir = t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	env.report = newReporter(writerFunc(func(p []byte) (int, error) { stop(); return len(p), nil })) // it has begun
	err := (hook{"--on-create", "echo begun; exec sleep 1000"}).run(ctx, env, s, nil)
	if !errors.Is(err, context.Canceled) || exitOf(err) != exitInterrupted {
		t.Errorf("%v", err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
