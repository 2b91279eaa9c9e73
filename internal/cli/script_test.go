package cli

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/tests/must"
)

func TestScriptEnvironment(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
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
		f, out := testEnv(t)
		f.Environ = []string{"PATH=/bin:/usr/bin", "MINE=kept", "AGENTCTL_MODEL=of another one"}
		script := `printf '%s\n' "$AGENTCTL_SESSION_ID" $AGENTCTL_ADAPTER $AGENTCTL_CWD $AGENTCTL_GROUP $AGENTCTL_MODEL ` +
			`$AGENTCTL_BRANCH $(pwd) $MINE ${AGENTCTL_EXIT_CODE-none}; cat; echo said >&2`
		must.Do(t, (Script{Flag: "--on-complete", Command: script}).Run(t.Context(), f, s, tc.exit))
		want := strings.Join([]string{s.ID, "codex", dir, "g", "m", "try/g/codex", dir, "kept", tc.want, "said"}, "\n") + "\n"
		if out.Stderr.String() != want || out.Stdout.Len() > 0 {
			t.Errorf("%q, and on stdout %q; want %q", out.Stderr.String(), out.Stdout.String(), want)
		}
	}
}

// What comes out of a transcript may be no text for an environment.
func TestScriptEnvironmentIsValid(t *testing.T) {
	f, out := testEnv(t)
	f.Environ = []string{"PATH=/bin:/usr/bin"}
	s := discover.Session{Record: &discover.Record{ID: "1", Agent: "codex", Dir: "/w/a\x00b", Branch: strings.Repeat("é", 200_000)}}
	script := `printf '%s %s\n' "$AGENTCTL_CWD" "${#AGENTCTL_BRANCH}"; cat`
	must.Do(t, (Script{Flag: "--exec", Command: script}).Shell(t.Context(), f, "", []byte("{}"), SessionVars(object.NewSession(s))))
	if got := out.Stderr.String(); !strings.HasPrefix(got, "/w/ab ") || !strings.HasSuffix(got, "\n{}") {
		t.Errorf("%q", got)
	}
}

func TestScriptFailureNamesTheFlag(t *testing.T) {
	f, _ := testEnv(t)
	s := discover.UnknownSession()
	s.Dir = t.TempDir()
	if err := (Script{Flag: "--on-create", Command: ""}).Run(t.Context(), f, s, nil); err != nil {
		t.Errorf("nothing fails with %v", err)
	}
	err := (Script{Flag: "--on-create", Command: "exit 3"}).Run(t.Context(), f, s, nil)
	if err == nil || err.Error() != "the script of --on-create failed: exit status 3" || ExitCode(err) != ExitFailed {
		t.Errorf("%v", err)
	}
	s.Dir = filepath.Join(s.Dir, "gone")
	if err := (Script{Flag: "--on-create", Command: "true"}).Run(t.Context(), f, s, nil); err == nil || !strings.Contains(err.Error(), "gone") {
		t.Errorf("%v", err)
	}
}

func TestScriptEndsWithTheContext(t *testing.T) {
	f, _ := testEnv(t)
	s := discover.UnknownSession()
	s.Dir = t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	f.Report = NewReporter(writerFunc(func(p []byte) (int, error) { stop(); return len(p), nil })) // it has begun
	err := (Script{Flag: "--on-create", Command: "echo begun; exec sleep 1000"}).Run(ctx, f, s, nil)
	if !errors.Is(err, context.Canceled) || ExitCode(err) != ExitInterrupted {
		t.Errorf("%v", err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// Each line that a user's script prints is an object, too; without --json the script has stderr as it is.
func TestScriptOutput(t *testing.T) {
	for asJSON, want := range map[bool]string{
		false: "one\ntwo",
		true:  `{"warning":{"message":"one","source":"--exec"}}` + "\n" + `{"warning":{"message":"two","source":"--exec"}}` + "\n",
	} {
		f, out := testEnv(t)
		f.Report = NewReporter(f.Stderr)
		f.Report.JSON = asJSON
		must.Do(t, (Script{Flag: "--exec", Command: "echo one; printf two >&2"}).Shell(t.Context(), f, "", nil, nil))
		if out.Stderr.String() != want {
			t.Errorf("%q", out.Stderr.String())
		}
	}
}

// A reader that does not read cannot keep us from ending.
func TestWritingEndsWithTheContext(t *testing.T) {
	r, w, err := os.Pipe()
	must.Do(t, err)
	ctx, stop := context.WithCancel(t.Context())
	text := make([]byte, 1<<20) // more than a pipe holds
	go func() { _, _ = r.Read(make([]byte, 1)); stop() }()
	if _, err := (ContextWriter{ctx, w}).Write(text); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	r.Close() // and with it ends what still writes
	w.Close()
}
