package cli

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/terminal"
	"agentctl/proc"
)

func sessionOf(host string, s discover.Session) discover.Session {
	s.Host = host
	return s
}

// One session in the stores of three machines is three rows. Each command means the session of its row.
func TestHostArguments(t *testing.T) {
	s := session("aaaaaaaa", discover.Running, "/w", "")
	unnamed := sessionOf("ana", session("", discover.Running, "/w", ""))
	unnamed.Processes = []proc.Process{{ID: proc.ID{PID: 4711}}}
	m := newScreen(t, sessionOf("ana", s), sessionOf("bob", s), sessionOf("local", s), unnamed)
	if got := fmt.Sprint(m.arguments(m.rows)); got != "[ana:aaaaaaaa bob:aaaaaaaa local:aaaaaaaa ana:pid:4711]" {
		t.Error(got)
	}
	m.types('j', ' ', ' ', 'K', 'y')
	if ran := <-m.ran; ran != "stop bob:aaaaaaaa local:aaaaaaaa" {
		t.Error(ran)
	}
	m.types(terminal.Escape, terminal.Escape, 'g', 'm')
	if text := m.shown(120, 20); !strings.Contains(text, "message to codex ana:aaaaaaaa: ") {
		t.Error(text)
	}
	m.types('x', terminal.Enter)
	if ran := <-m.ran; ran != "send -- ana:aaaaaaaa x" {
		t.Error(ran)
	}
	m.types(terminal.Escape, 'G', 'm')
	if text := m.shown(120, 20); !strings.Contains(text, "message to codex ana:pid:4711: ") {
		t.Error(text)
	}
}

// Nothing is measured here for a session of another machine, though a process here has its pid, and even its identity, and though a
// directory here has its name.
func TestSamplerOfHosts(t *testing.T) {
	table, err := proc.ReadTable(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	self, ok := table.ByPID(os.Getpid())
	if !ok {
		t.Fatal("this process is not in the table")
	}
	there := session("aaaa", discover.Running, t.TempDir(), "")
	there.Processes, there.Trust = []proc.Process{self}, discover.TrustOurs
	here, other := object.NewSession(sessionOf("local", there)), object.NewSession(sessionOf("ana", there))
	s := newScreen(t).sampler
	s.sample(t.Context(), discover.Result{Table: table, Sessions: []discover.Session{there}}, 1)
	s.sampleProcesses()
	if len(s.trees) != 1 || len(s.rows) != 1 || len(s.changesAskedFor) != 1 {
		t.Errorf("%d trees, %d rows, %v", len(s.trees), len(s.rows), s.changesAskedFor)
	}
	s.details[topKeyOf(&here)] = object.Session{Tokens: &object.Tokens{Total: 7}}
	s.changes[there.Dir] = &object.Changes{}
	if load := s.load(&here); load.CPU == nil || load.Memory == nil || load.Changes == nil || here.Tokens == nil {
		t.Errorf("of this machine: %+v", load)
	}
	load := s.load(&other)
	if load.CPU != nil || load.Memory != nil || load.TokenRate != nil || load.CPUHistory != nil || load.TokenHistory != nil || load.Changes != nil || other.Tokens != nil {
		t.Errorf("of another machine: %+v %v", load, other.Tokens)
	}
}
