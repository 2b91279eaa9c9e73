package send

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/proc"
)

// A message is delivered only if the transcript has the very message that was sent.
func TestDelivery(t *testing.T) {
	const soon, ever = 300 * time.Millisecond, time.Minute
	now := time.Now()
	for name, test := range map[string]struct {
		before  []discover.Message
		sentID  string
		refusal string       // "dropped" or the notice of a held message
		unread  string       // why the model may not get what is stored
		stores  func(*store) // while the agent takes the message
		later   func(*store) // once it has taken it
		ends    bool
		timeout time.Duration
		want    Delivery
	}{
		"stored at once": {stores: func(s *store) { s.add(userMessage("1", "<from>hi", time.Now())) }, timeout: ever, want: Delivered},
		"stored later":   {later: func(s *store) { s.add(userMessage("1", "<from>hi", time.Now())) }, timeout: ever, want: Delivered},
		"never stored":   {timeout: soon, want: Accepted},
		"held":           {refusal: "held", stores: func(s *store) { s.add(userMessage("1", "held", time.Now())) }, timeout: soon, want: Accepted},
		"dropped":        {refusal: "dropped", stores: func(s *store) { s.add(userMessage("1", "dropped", time.Now())) }, timeout: ever, want: Dropped},
		"said before":    {before: []discover.Message{userMessage("1", "<from>hi", now.Add(-time.Second))}, timeout: soon, want: Accepted},
		"another text":   {stores: func(s *store) { s.add(userMessage("1", "<from>ho", time.Now())) }, timeout: soon, want: Accepted},
		"the very one":   {sentID: "m", stores: func(s *store) { s.add(userMessage("m", "<from>hi", time.Now())) }, timeout: ever, want: Delivered},
		"another's":      {sentID: "m", stores: func(s *store) { s.add(userMessage("n", "<from>hi", time.Now())) }, timeout: soon, want: Accepted},
		"out of order": {stores: func(s *store) {
			s.add(userMessage("1", "<from>hi", time.Now()), userMessage("0", "x", now.Add(-time.Second)))
		}, timeout: ever, want: Delivered},
		"ended":           {ends: true, timeout: ever, want: Lost},
		"stored, ended":   {ends: true, stores: func(s *store) { s.add(userMessage("1", "<from>hi", time.Now())) }, timeout: ever, want: Delivered},
		"unread":          {unread: "left out", stores: func(s *store) { s.add(userMessage("1", "<from>hi", time.Now())) }, timeout: soon, want: Accepted},
		"unread, ended":   {ends: true, unread: "left out", stores: func(s *store) { s.add(userMessage("1", "<from>hi", time.Now())) }, timeout: ever, want: Lost},
		"cannot be read":  {stores: func(s *store) { s.Lock(); s.err = errors.New("damaged"); s.Unlock() }, timeout: soon, want: Unknown},
		"unreadable, end": {ends: true, stores: func(s *store) { s.Lock(); s.err = errors.New("damaged"); s.Unlock() }, timeout: ever, want: Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id, end := agentProcess(t)
			a := senderAdapter{testAdapter: testAdapter{id: "a", path: t.TempDir(), strength: discover.Exact, process: id, store: &store{messages: test.before}}}
			a.unread = test.unread
			a.send = func(_ context.Context, s discover.Session, text string) (launch.SentMessage, error) {
				if !s.HasProcess(id) || s.ID != "a" {
					t.Errorf("sent to %+v", s)
				}
				if test.stores != nil {
					test.stores(a.store)
				}
				if test.ends {
					end()
				}
				if test.later != nil {
					time.AfterFunc(soon, func() { test.later(a.store); touch(t, a.path) })
				}
				return launch.SentMessage{Text: text, ID: test.sentID}, nil
			}
			r, err := sent(t, a, "hi", test.timeout)
			if err != nil || r.Delivery != test.want || (r.Message != nil) != (test.want == Delivered) || r.Refusal != test.refusal+test.unread {
				t.Errorf("%s, %v, %v; %v", r.Delivery, r.Err, r.Message, err)
			}
		})
	}
}

// touch has the watcher see a change.
func touch(t *testing.T, path string) {
	now := time.Now()
	if err := os.Chtimes(path, now, now); err != nil {
		t.Error(err)
	}
}

// Nothing is sent to a session that may not be sent anything.
func TestRefused(t *testing.T) {
	id, _ := agentProcess(t)
	good := testAdapter{id: "a", path: "/h/a", strength: discover.Exact, process: id, store: &store{}}
	never := func(context.Context, discover.Session, string) (launch.SentMessage, error) {
		t.Error("it was sent")
		return launch.SentMessage{}, nil
	}
	with := func(change func(*testAdapter)) senderAdapter {
		a := senderAdapter{testAdapter: good, send: never}
		change(&a.testAdapter)
		return a
	}
	var (
		stopped *StoppedError
		unclear *UnclearError
		unable  *launch.UnsupportedError
		trust   *discover.UntrustedError
	)
	if _, err := sent(t, with(func(a *testAdapter) { a.process = proc.ID{} }), "hi", time.Minute); !errors.As(err, &stopped) {
		t.Errorf("stopped: %v", err)
	}
	if _, err := sent(t, with(func(a *testAdapter) { a.strength = discover.Weak }), "hi", time.Minute); !errors.As(err, &unclear) || !says(err, id.String()) {
		t.Errorf("weak evidence: %v", err)
	}
	if _, err := sent(t, with(func(a *testAdapter) { a.id, a.path = "", "" }), "hi", time.Minute); !errors.As(err, &unclear) || !says(err, "session is not known") {
		t.Errorf("no ID: %v", err)
	}
	if _, err := sent(t, with(func(a *testAdapter) { a.homeSeen = true }), "hi", time.Minute); !errors.As(err, &trust) {
		t.Errorf("a home that is only seen: %v", err)
	}
	if _, err := sent(t, good, "hi", time.Minute); !errors.As(err, &unable) || !says(err, "has no way to take a message") {
		t.Errorf("no sender: %v", err)
	}
	refusing := with(func(*testAdapter) {})
	refusing.check = &launch.UnsupportedError{Agent: "testagent", What: "takes no messages in print mode"}
	if _, err := sent(t, refusing, "hi", time.Minute); !errors.As(err, &unable) || !says(err, "print mode") {
		t.Errorf("the adapter refuses: %v", err)
	}
	rejected := (*RejectedError)(nil)
	refusing.check, refusing.send = nil, func(context.Context, discover.Session, string) (launch.SentMessage, error) {
		return launch.SentMessage{}, errors.New("the queue is full")
	}
	if _, err := sent(t, refusing, "hi", time.Minute); !errors.As(err, &rejected) || !says(err, "the queue is full") {
		t.Errorf("the agent refuses: %v", err)
	}
	refusing.send = func(ctx context.Context, _ discover.Session, _ string) (launch.SentMessage, error) {
		<-ctx.Done()
		return launch.SentMessage{}, ctx.Err()
	}
	if _, err := sent(t, refusing, "hi", 50*time.Millisecond); !errors.As(err, &rejected) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the agent does not answer: %v", err)
	}
}
