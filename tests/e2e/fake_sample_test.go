package e2e_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"agentctl/internal/cli"
	"agentctl/proc"
	"agentctl/tests/sampleagent"
)

// agentctlWithSample is agentctl with one more agent.
func agentctlWithSample() {
	env := cli.NewEnv("v0.0.0-test")
	env.Adapters = append(env.Adapters, sampleagent.Adapter{})
	os.Exit(cli.Main(os.Args, env))
}

// sample is the agent of package sampleagent: JSON lines for each session, and a pid file while a process runs it.
type sample struct{ home, id string }

func (s *sample) handle(verb, rest string) (string, error) {
	switch verb {
	case "begin": // [ID]
		if s.id = rest; s.id == "" {
			s.id = uuid(4)
		}
		return "id=" + s.id, s.appear()
	case "prompt": // TEXT
		return "", s.record(unquoted(rest))
	case "answer": // TEXT
		return "", s.write("answer", unquoted(rest))
	}
	return "", errUnknownOrder
}

func (s *sample) accept(args []string, stdin string) (string, error) {
	o, unknown := parseOptions(args, " --session ", "")
	if s.id = o.first("--session"); unknown != "" || s.id == "" {
		return "", refusal{2, fmt.Sprintf("sample: error: unknown option %q", unknown)}
	}
	return stdin, nil
}

func (s *sample) pidFile() string {
	return filepath.Join(s.home, "run", fmt.Sprintf("%d.json", os.Getpid()))
}

// appear writes the pid file as a whole, so that nobody reads half of it.
func (s *sample) appear() error {
	self, err := proc.Inspect(os.Getpid())
	if err != nil {
		return err
	}
	text, err := json.Marshal(map[string]any{"session": s.id, "start": self.Ticks})
	if err != nil {
		return err
	}
	unfinished := filepath.Join(s.home, "run", "new")
	return errors.Join(
		os.MkdirAll(filepath.Dir(unfinished), 0o700), os.WriteFile(unfinished, text, 0o600), os.Rename(unfinished, s.pidFile()),
		s.write("start", workDir()),
	)
}

func (s *sample) record(prompt string) error { return s.write("prompt", prompt) }

// write appends a line to the transcript.
func (s *sample) write(kind, text string) error {
	return appendLines(filepath.Join(s.home, "sessions", s.id+".jsonl"), object{"time", stamp(), "type", kind, "text", text})
}

func (s *sample) tool(string) error   { return nil }
func (s *sample) result(string) error { return nil }
func (s *sample) retry() error        { return nil }

func (s *sample) finish(text string, failed bool) (int, error) {
	kind, code := "answer", 0
	if failed {
		kind, code = "error", 1
	}
	return code, errors.Join(s.write(kind, text), os.Remove(s.pidFile()))
}

func (s *sample) markers() []string           { return []string{sampleagent.EnvSession + "=" + s.id} }
func (s *sample) handledSignals() []os.Signal { return []os.Signal{unix.SIGTERM} }

func (s *sample) onSignal(sig syscall.Signal, kill func() bool) {
	kill()
	_ = os.Remove(s.pidFile()) // it may not be there yet
	os.Exit(128 + int(sig))
}
