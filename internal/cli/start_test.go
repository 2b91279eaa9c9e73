package cli

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/launch"
	"agentctl/proc"
	"agentctl/tests/must"
)

// The hint for a live session that was to be resumed helps: stop does not end one that is idle in a process with others.
func TestLiveSessionsAreNotResumed(t *testing.T) {
	for name, test := range map[string]struct {
		status discover.Status
		shared bool
		hint   string
	}{
		"running":             {discover.Running, false, "stop it"},
		"idle":                {discover.Idle, false, "stop it"},
		"running in a daemon": {discover.Running, true, "stop it"},
		"idle in a daemon":    {discover.Idle, true, "pid 7 keeps it open: talk to it there"},
	} {
		s := discover.Session{Record: &discover.Record{Agent: "codex", ID: "a"}, Status: test.status, Shared: test.shared}
		s.Processes = []proc.Process{{ID: proc.ID{PID: 7, Birth: "b"}}}
		err := refusal(&launch.LiveError{Session: s})
		var conflict *Failure
		if !errors.As(err, &conflict) || ExitCode(err) != ExitConflict || !strings.Contains(conflict.Hint, test.hint) {
			t.Errorf("%s: %+v", name, err)
		}
	}
}

// A start that was not proven in time and is to be waited for is left alone: nothing is stopped.
func TestAnUnprovenStartIsLeftAlone(t *testing.T) {
	s := discover.Session{Record: &discover.Record{Agent: "codex", ID: "a"}}
	l := &Launched{
		StartOptions: &StartOptions{Wait: true, CommonFlags: CommonFlags{Quiet: true}}, Call: &Call{},
		Verification: &launch.Verification{Session: s}, execution: &launch.Execution{},
	}
	failed := TimeoutError("it did not appear", "")
	if err := l.end(t.Context(), failed, nil); !errors.Is(err, failed) {
		t.Errorf("%v", err)
	}
}

// The answer is the last text of the newest turn, never one of an earlier turn.
func TestAnswer(t *testing.T) {
	message := func(role discover.Role, kind discover.MessageKind, text string, at time.Duration) discover.Message {
		return discover.Message{Session: "a", Role: role, Kind: kind, Text: text, Time: Now().Add(at)}
	}
	user := func(text string, at time.Duration) discover.Message {
		return message(discover.RoleUser, discover.KindText, text, at)
	}
	said := func(text string, at time.Duration) discover.Message {
		return message(discover.RoleAssistant, discover.KindText, text, at)
	}
	call := message(discover.RoleAssistant, discover.KindTool, "", 2)
	cut := message(discover.RoleSystem, discover.KindInterruption, "", 2)
	sub := discover.Message{Session: "b", Role: discover.RoleAssistant, Kind: discover.KindText, Text: "of a sub-agent", Time: Now().Add(5)}
	asked := discover.Message{Session: "b", Role: discover.RoleUser, Kind: discover.KindText, Text: "to a sub-agent", Time: Now().Add(4)}
	undated := said("old", 0)
	undated.Time = time.Time{}
	for name, test := range map[string]struct {
		messages []discover.Message // the oldest first
		torn     error
		want     string
	}{
		"nothing":                    {nil, nil, ""},
		"one text":                   {[]discover.Message{user("q", 0), said("yes", 1)}, nil, "yes"},
		"the last text":              {[]discover.Message{user("q", 0), said("let me see", 1), call, said("done", 3)}, nil, "done"},
		"a text before a call":       {[]discover.Message{user("q", 0), said("let me see", 1), call}, nil, "let me see"},
		"a blank text":               {[]discover.Message{user("q", 0), said("yes", 1), said(" \n", 2)}, nil, "yes"},
		"a sub-agent among them":     {[]discover.Message{user("q", 0), said("yes", 1), asked, sub}, nil, "yes"},
		"an earlier turn":            {[]discover.Message{user("p", -9), said("old", -8), user("q", 0), call}, nil, ""},
		"an earlier turn, undated":   {[]discover.Message{undated, user("q", 0)}, nil, ""},
		"a prompt that is no text":   {[]discover.Message{user("p", -9), said("old", -8), call}, nil, ""},
		"an interrupted turn":        {[]discover.Message{user("q", 0), said("let me see", 1), cut}, nil, ""},
		"a part that cannot be read": {[]discover.Message{user("q", 0), said("yes", 1)}, errors.New("torn"), ""},
	} {
		got, err := answerIn(newestFirst(test.messages, test.torn), "a", Now())
		if got != test.want || !errors.Is(err, test.torn) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// newestFirst yields messages as a transcript does whose end cannot be read.
func newestFirst(messages []discover.Message, torn error) iter.Seq2[discover.Message, error] {
	return func(yield func(discover.Message, error) bool) {
		if torn != nil && !yield(discover.Message{}, torn) {
			return
		}
		for _, m := range slices.Backward(messages) {
			if !yield(m, nil) {
				return
			}
		}
	}
}

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
