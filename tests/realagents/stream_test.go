package realagents

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"agentctl/tests/replay"
)

// stream is an `agentctl events` beside the test.
type stream struct {
	t    *testing.T
	cmd  *exec.Cmd
	errs bytes.Buffer
	read chan struct{} // closed when the stream has ended

	mu     sync.Mutex
	lines  []byte
	events []arrival
}

// arrival is an event, and when it came.
type arrival struct {
	replay.Event
	at time.Time
}

// events begins to listen.
func (c agentctl) events(flags ...string) *stream {
	c.t.Helper()
	s := &stream{t: c.t, cmd: exec.Command(os.Getenv(binary), append([]string{"events"}, flags...)...), read: make(chan struct{})}
	s.cmd.Env = append([]string{"HOME=" + c.home, "PATH=" + os.Getenv("PATH")}, c.env...)
	s.cmd.Stderr = &s.errs
	out, err := s.cmd.StdoutPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = s.cmd.Process.Kill(); _ = s.cmd.Wait() }) // it has ended, if all went well
	go func() {
		defer close(s.read)
		for lines := bufio.NewReader(out); ; {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return
			}
			s.take(line, time.Now())
		}
	}()
	return s
}

func (s *stream) take(line []byte, at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, line...)
	events, err := replay.Read(line)
	if err != nil {
		s.t.Error(err)
	}
	for _, e := range events {
		s.events = append(s.events, arrival{e, at})
	}
}

// all are the events so far.
func (s *stream) all() []arrival {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.events)
}

// when waits for an event and returns when it came.
func (s *stream) when(what string, is func(replay.Event) bool) time.Time {
	s.t.Helper()
	var at time.Time
	if !poll(func() bool {
		list := s.all()
		i := slices.IndexFunc(list, func(a arrival) bool { return is(a.Event) })
		if i >= 0 {
			at = list[i].at
		}
		return i >= 0
	}) {
		s.t.Fatalf("no event: %s\n%s", what, s.lines)
	}
	return at
}

// interrupt ends it as Ctrl-C does.
func (s *stream) interrupt() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGINT); err != nil {
		s.t.Fatal(err)
	}
	<-s.read
	_ = s.cmd.Wait() // the exit code tells
	if code := s.cmd.ProcessState.ExitCode(); code != 130 || s.errs.String() != "agentctl: error: interrupted\n" {
		s.t.Errorf("exit code %d\n%s", code, s.errs.String())
	}
}
