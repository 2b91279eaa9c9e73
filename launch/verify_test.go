package launch

import (
	"context"
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
	c.plan.Scanner.ReadTable = func(ctx context.Context, _ bool) (*proc.Table, error) {
		if time.Since(began) > 2*turnObservation {
			give()
		}
		return proc.ReadTable(ctx, false)
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

// A session of which nothing is stored yet works where it was launched; one that is stored, where its agent says. The reading itself is not changed.
func TestDirectoryOfALaunchedSession(t *testing.T) {
	v := &Verification{plan: &Plan{Spec: Spec{Dir: "/launched"}}}
	for stored, want := range map[string]string{"": "/launched", "/moved": "/moved"} {
		s := discover.Session{Record: &discover.Record{Dir: stored}}
		v.Update(s)
		if v.Session.Dir != want || s.Dir != stored {
			t.Errorf("stored %q: %q, and the reading has %q", stored, v.Session.Dir, s.Dir)
		}
	}
}
