package send

import (
	"context"
	"iter"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/proc"
)

// testAdapter is an agent with one session, which a child of the test runs. It is no [launch.Sender].
type testAdapter struct {
	id       string
	path     string
	strength discover.Strength
	// homeSeen: only the agent's process names its home.
	homeSeen bool
	process  proc.ID

	*store
}

// store is what the agent has stored.
type store struct {
	sync.Mutex
	messages []discover.Message // the oldest first
	err      error
}

func (s *store) add(m ...discover.Message) {
	s.Lock()
	defer s.Unlock()
	s.messages = append(s.messages, m...)
}

// senderAdapter is a testAdapter that takes messages.
type senderAdapter struct {
	testAdapter
	check  error
	unread string
	send   func(ctx context.Context, s discover.Session, text string) (launch.SentMessage, error)
}

func (a senderAdapter) CheckSend(discover.Session, launch.Environment) error { return a.check }

func (a senderAdapter) Send(ctx context.Context, s discover.Session, text string, _ launch.Environment) (launch.SentMessage, error) {
	return a.send(ctx, s, text)
}

func (a senderAdapter) IsSent(m discover.Message, sent launch.SentMessage) bool {
	return m.Text == "<from>"+sent.Text && (sent.ID == "" || m.ID == sent.ID)
}

func (a senderAdapter) Refusal(m discover.Message, _ launch.SentMessage) (text string, dropped bool) {
	if m.Text == "held" || m.Text == "dropped" {
		return m.Text, m.Text == "dropped"
	}
	return "", false
}

func (a senderAdapter) Unread(context.Context, discover.Session, launch.SentMessage) (string, error) {
	return a.unread, nil
}

func (testAdapter) Name() discover.Agent { return "testagent" }

func (a testAdapter) Homes(discover.HomeSources, *proc.Table) []discover.Home {
	if a.homeSeen {
		return []discover.Home{{Dir: "/h", NamedBy: []proc.ID{a.process}}}
	}
	return []discover.Home{{Dir: "/h", FromUser: true}}
}

func (a testAdapter) Claims(_ context.Context, table *proc.Table, _ []discover.Home) ([]discover.Claim, error) {
	p, ok := table.Find(a.process)
	if !ok || !p.Alive() {
		return nil, nil
	}
	presence := discover.Claim{Agent: a.Name(), Process: a.process, Home: "/h"}
	claim := presence
	claim.Session, claim.Path, claim.Strength, claim.Kind = a.id, a.path, a.strength, "test"
	if a.id == "" {
		return []discover.Claim{presence}, nil
	}
	return []discover.Claim{presence, claim}, nil
}

func (a testAdapter) Entries(_ context.Context, _ []discover.Home, q discover.EntryFilter) (list []discover.Entry, err error) {
	if a.path != "" && (q.ID == "" || q.ID == a.id) {
		list = append(list, discover.Entry{Agent: a.Name(), ID: a.id, Path: a.path, Home: "/h"})
	}
	return list, nil
}

func (a testAdapter) Read(_ context.Context, entries []discover.Entry, _ discover.ReadOptions) iter.Seq2[discover.Record, error] {
	return func(yield func(discover.Record, error) bool) {
		for _, e := range entries {
			if !yield(discover.Record{Agent: a.Name(), ID: e.ID, Path: e.Path, Home: e.Home, Turn: discover.Turn{State: discover.TurnDone}}, nil) {
				return
			}
		}
	}
}

func (a testAdapter) Messages(context.Context, discover.Record) iter.Seq2[discover.Message, error] {
	a.Lock()
	messages, err := slices.Clone(a.messages), a.err
	a.Unlock()
	return func(yield func(discover.Message, error) bool) {
		if err != nil && !yield(discover.Message{}, err) {
			return
		}
		for _, m := range slices.Backward(messages) {
			if !yield(m, nil) {
				return
			}
		}
	}
}

// agentProcess starts the process of a session. end ends it, and returns once it is gone.
func agentProcess(t *testing.T) (id proc.ID, end func()) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end = sync.OnceFunc(func() { _ = in.Close(); _ = cmd.Wait() })
	t.Cleanup(end)
	p, err := proc.Inspect(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return p.ID, end
}

// scannerOf makes a scanner for one adapter.
func scannerOf(a discover.Adapter) *discover.Scanner {
	return &discover.Scanner{
		Adapters: []discover.Adapter{a},
		HomeSources: func(discover.Agent) discover.HomeSources {
			return discover.HomeSources{Getenv: func(string) string { return "" }}
		},
		ReadTable: proc.ReadTable, UID: os.Geteuid(),
	}
}

// userMessage is a message as the agent stores one that was sent.
func userMessage(id, text string, at time.Time) discover.Message {
	return discover.Message{ID: id, Role: discover.RoleUser, Kind: discover.KindText, Text: text, Time: at.Truncate(time.Millisecond)}
}

// sent sends a message to the session of an adapter.
func sent(t *testing.T, a discover.Adapter, text string, timeout time.Duration) (Result, error) {
	t.Helper()
	scanner := scannerOf(a)
	r, err := scanner.List(t.Context(), discover.SessionFilter{IncludeStopped: true})
	if err != nil || len(r.Sessions) != 1 {
		t.Fatalf("%d sessions, %v", len(r.Sessions), err)
	}
	m, err := launch.NewMessage(text)
	if err != nil {
		t.Fatal(err)
	}
	return ToSession(t.Context(), scanner, r.Sessions[0], m, Options{Timeout: timeout})
}

// says reports whether an error has a text.
func says(err error, text string) bool { return err != nil && strings.Contains(err.Error(), text) }
