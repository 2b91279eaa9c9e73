package launch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"agentctl/discover"
	"agentctl/proc"
)

func always(discover.Session) bool { return true }

// never keeps a puppet alive.
const never = "never"

func TestAwaitProvesTheSessionOfTheChild(t *testing.T) {
	for name, script := range map[string][]string{
		"by exact evidence":       {"store a", "run a", never},
		"behind a launcher":       {"shim", "store a", "run a", never},
		"before it is in storage": {"run a", never},
		"by its own words":        {"print session a", "store a", "run a", never},
	} {
		t.Run(name, func(t *testing.T) {
			p := puppets{store: t.TempDir()}
			c := stage(t, p, script...)
			s, err := awaitSession(t.Context(), c)
			if err != nil || s.ID != "a" || s.Status != discover.Running || len(s.Processes) != 1 {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
}

// Another puppet runs a session of its own, in the same store and from the same moment on.
func TestAwaitTakesNoNeighbour(t *testing.T) {
	p := puppets{store: t.TempDir()}
	stage(t, p, "store b", "run b", never)
	begin := gate(t)
	c := stage(t, p, "await "+begin, "store a", "run a", never)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	v := c.Verify()
	for range 3 {
		if done, err := v.check(ctx, always); done || err != nil {
			t.Fatalf("%q, %v, %v", v.Session.ID, done, err)
		}
	}
	open(t, begin)
	if s, err := awaitSession(ctx, c); err != nil || s.ID != "a" {
		t.Errorf("%q, %v", s.ID, err)
	}
}

// whole awaits the proof, and that the session settles.
func whole(t *testing.T, script ...string) (discover.Session, *Execution, error) {
	t.Helper()
	p := puppets{store: t.TempDir()}
	c := stage(t, p, script...)
	v := c.Verify()
	err := v.AwaitSession(t.Context())
	if err == nil {
		err = v.AwaitTurn(t.Context())
	}
	return v.Session, c, err
}

// awaitSession verifies an execution anew until its session is proven.
func awaitSession(ctx context.Context, c *Execution) (discover.Session, error) {
	v := c.Verify()
	err := v.AwaitSession(ctx)
	return v.Session, err
}

func TestTheEndOfTheChild(t *testing.T) {
	_, _, err := whole(t, "print hello", "complain it broke", "exit 3")
	if e := endedBy(t, err); e.Exit != (ExitStatus{Code: 3}) || e.Message != "it broke" || e.Session != nil {
		t.Errorf("%+v", e)
	}
	_, _, err = whole(t, "store a", "run a", "print session a", "exit 4")
	if e := endedBy(t, err); e.Exit.Code != 4 || e.Session == nil || e.Session.ID != "a" || e.Message != "session a" {
		t.Errorf("%+v", e)
	}
	if s, _, err := whole(t, "store b", "print session b", "exit 0"); err != nil || s.ID != "b" {
		t.Errorf("%+v, %v", s, err)
	}
	for _, script := range []string{"fail c", "ask c"} { // the storage says more than the exit code
		_, _, err := whole(t, script, "print session c", "exit 0")
		if e := endedBy(t, err); e.Exit != (ExitStatus{}) || e.Session == nil || e.Session.ID != "c" {
			t.Errorf("%s: %+v", script, e)
		}
	}
	_, _, err = whole(t, "exit 0")
	if e := endedBy(t, err); e.Exit != (ExitStatus{}) {
		t.Errorf("%+v", e)
	}
	_, _, err = whole(t, "signal")
	if e := endedBy(t, err); e.Exit != (ExitStatus{Code: -1, Signal: unix.SIGKILL}) {
		t.Errorf("%+v", e)
	}
}

// What is said of a failure is true of its end, and of its session.
func TestWordsOfAnEnd(t *testing.T) {
	for want, e := range map[string]AgentFailedError{
		"codex failed (exit status 3): it broke":             {Exit: ExitStatus{Code: 3}, Message: "it broke"},
		"codex failed (ended by killed): it did not say why": {Exit: ExitStatus{Code: -1, Signal: unix.SIGKILL}},
		"codex ended without a session: it did not say why":  {},
		"codex failed: it broke":                             {Message: "it broke", Session: new(discover.UnknownSession())},
	} {
		if e.Agent = "codex"; e.Error() != want {
			t.Errorf("%q, want %q", e.Error(), want)
		}
	}
}

// A turn that failed is waited out: its agent is about to end with its reason.
func TestSettleWaitsForTheReason(t *testing.T) {
	reason := gate(t)
	p := puppets{store: t.TempDir()}
	c := stage(t, p, "fail a", "run a", "await "+reason, "complain no such model", "exit 1")
	// It takes longer to end than a turn is watched that goes well.
	began, give := time.Now(), sync.OnceFunc(func() { open(t, reason) })
	c.plan.Scanner.ReadTable = func(ctx context.Context) (*proc.Table, error) {
		if time.Since(began) > 2*turnObservation {
			give()
		}
		return proc.ReadTable(ctx)
	}
	v := c.Verify()
	err := v.AwaitSession(t.Context())
	if err == nil {
		err = v.AwaitTurn(t.Context())
	}
	if e := endedBy(t, err); e.Message != "no such model" || e.Session == nil || e.Session.Outcome != discover.Failed {
		t.Errorf("%+v", e)
	}
	<-c.Done()
	if _, _, err := whole(t, "store a", "run a", never); err != nil {
		t.Error(err)
	}
	if _, _, err := whole(t, "run a", never); err != nil {
		t.Errorf("a session that stores nothing: %v", err)
	}
}

// A turn that was there before the start proves nothing of a resumed session.
func TestAwaitTheNewTurn(t *testing.T) {
	p := puppets{store: t.TempDir(), chosen: "a", resume: true}
	record := filepath.Join(p.store, "a.session")
	write(record, time.Now().Add(-time.Hour).Format(time.RFC3339Nano))
	begin := gate(t)
	asked := gate(t)
	c := stage(t, p, "run a", "await "+begin, "begin a", "await "+asked, "store a", never)
	v := c.Verify()
	finds := func(turn time.Time) {
		t.Helper()
		for done := false; !done; {
			var err error
			if done, err = v.check(t.Context(), func(s discover.Session) bool { return s.Turn.Began.After(turn) }); err != nil {
				t.Fatal(err)
			}
		}
	}
	if finds(time.Time{}); v.Session.ID != "a" || v.turnStored(t.Context(), v.Session) {
		t.Fatalf("the old turn was taken for the new one: %+v", v.Session)
	}
	open(t, begin)
	if finds(c.StartTime); v.turnStored(t.Context(), v.Session) {
		t.Fatalf("the turn is in storage, the prompt is not: %+v", v.Session)
	}
	open(t, asked)
	if s, err := awaitSession(t.Context(), c); err != nil || s.ID != "a" {
		t.Errorf("%+v, %v", s, err)
	}
}

// An agent that says nothing of its process is proven by the ID that only it was told.
func TestAwaitAChosenID(t *testing.T) {
	p := puppets{store: t.TempDir(), chosen: "chosen"}
	c := stage(t, p, "store chosen", never)
	if s, err := awaitSession(t.Context(), c); err != nil || s.ID != "chosen" {
		t.Errorf("%+v, %v", s, err)
	}
	// Of a session that was there before, the ID alone proves nothing.
	p.resume = true
	c = stage(t, p, never)
	v := c.Verify()
	if done, err := v.check(t.Context(), always); done || err != nil {
		t.Errorf("%q, %v, %v", v.Session.ID, done, err)
	}
}

func TestAwaitLetsGo(t *testing.T) {
	p := puppets{store: t.TempDir()}
	c := stage(t, p, never)
	ctx, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	if _, err := awaitSession(ctx, c); !errors.Is(err, ErrSessionTimeout) {
		t.Errorf("%v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if _, err := awaitSession(ctx, c); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if now, err := proc.Inspect(c.Process.ID.PID); err != nil || now.ID != c.Process.ID || !now.Alive() {
		t.Errorf("the child did not go on: %v", err)
	}
}

func TestKillEndsAllThatWasStarted(t *testing.T) {
	p := puppets{store: t.TempDir()}
	c := stage(t, p, "shim", "shim", "run a", never)
	for {
		if found, _ := filepath.Glob(filepath.Join(p.store, "*.pid")); len(found) > 0 {
			break
		}
		select {
		case <-c.Done():
			t.Fatal("it ended")
		case <-time.After(time.Millisecond):
		}
	}
	if err := c.KillTree(t.Context()); err != nil {
		t.Fatal(err)
	}
	table, err := proc.ReadTable(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for x := range table.All() {
		if env, err := x.Env(puppetKey); err == nil && env[puppetKey] == p.store && x.ID.PID != os.Getpid() {
			t.Errorf("%s lives", x.ID)
		}
	}
}

// twins are puppets whose sessions are stored twice, under one ID.
type twins struct{ puppets }

func (w twins) Entries(ctx context.Context, homes []discover.Home, q discover.EntryFilter) ([]discover.Entry, error) {
	list, err := w.puppets.Entries(ctx, homes, q)
	for _, e := range list {
		e.Path = filepath.Join(w.store, "twin", filepath.Base(e.Path))
		list = append(list, e)
	}
	return list, err
}

// A session is read again by its identity: one with the same ID is not taken for it.
func TestRefreshTakesNoOtherSessionWithTheID(t *testing.T) {
	p := puppets{store: t.TempDir()}
	record, twin := filepath.Join(p.store, "a.session"), filepath.Join(p.store, "twin", "a.session")
	if err := os.Mkdir(filepath.Dir(twin), 0o700); err != nil {
		t.Fatal(err)
	}
	write(record, failed)
	write(twin, asked)
	for name, test := range map[string]struct {
		adapter    Adapter
		path, want string
	}{
		"by its path":         {twins{p}, twin, twin},
		"without a path":      {twins{p}, "", ""},
		"the only one":        {p, "", record},
		"gone from its place": {p, twin, twin},
	} {
		l, _ := planner(t, p)
		l.Scanner.Adapters = []discover.Adapter{test.adapter}
		v := &Verification{plan: &Plan{Scanner: l.Scanner}, Session: discover.Session{Record: &discover.Record{Agent: "puppet", ID: "a", Path: test.path}}}
		v.Refresh(t.Context(), discover.ReadOptions{})
		if v.Session.Path != test.want {
			t.Errorf("%s: %q, want %q", name, v.Session.Path, test.want)
		}
	}
}
