package hostile

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"agentctl/tests/schema"
)

const (
	// deadline is how long a run may take: far more than any does, so that a busy machine is no failure.
	deadline = time.Minute
	// memory is the most that a run gets, in KB. TestMemoryIsBounded measures what it takes.
	memory = "1000000"
)

// run runs agentctl, checks what holds for every run, and returns its stdout.
func (c *trial) run(args ...string) string {
	c.Helper()
	// The shell is replaced by agentctl. What takes much more than it may is ended by the system, before others are.
	cmd := exec.CommandContext(c.Context(), "sh", append([]string{"-c", "ulimit -d " + memory + `; exec "$0" "$@"`, c.agentctl}, args...)...)
	cmd.Dir, cmd.Env = c.home, environment(c.home)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = deadline // its child may hold its output
	check(c.T, cmd.Start())
	hung := time.AfterFunc(deadline, func() { _ = cmd.Process.Signal(quit) })
	_ = cmd.Wait()
	stuck := !hung.Stop()
	line := "agentctl " + strings.Join(args, " ")
	report := errs.String()[:min(errs.Len(), 3000)]
	switch code := cmd.ProcessState.ExitCode(); {
	case stuck:
		c.fail("%s has not ended in time\n%s", line, report)
		return ""
	case !slices.Contains([]int{0, 1, 2, 3, 4, 5, 6, 7, 8, 124}, code):
		c.fail("%s: %s\n%s", line, cmd.ProcessState, report)
	case code == 6 && errs.Len() == 0:
		c.fail("%s: exit code 6, and nothing on stderr", line)
	}
	for _, word := range []string{"panic:", "goroutine 1 [", "fatal error:", "runtime error"} {
		if strings.Contains(errs.String(), word) {
			c.fail("%s\n%s", line, report)
		}
	}
	for name, text := range map[string][]byte{"stdout": out.Bytes(), "stderr": errs.Bytes()} {
		if i := acting(text); i >= 0 {
			c.fail("%s: %s has a control sequence: %q", line, name, text[max(0, i-100):min(len(text), i+100)])
		}
	}
	if slices.Contains(args, "--json") {
		if err := errors.Join(valid(args, out.Bytes()), objects(errs.Bytes())); err != nil {
			c.fail("%s: %v", line, err)
		}
	}
	return out.String()
}

// acting is where a character stands on which a terminal acts, -1 if there is none.
func acting(text []byte) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// valid fails unless each JSON value on stdout is what the schema says.
func valid(args []string, out []byte) error {
	part := map[string]string{
		"list": "sessions", "status": "session", "wait": "session", "search": "session", "peek": "message", "logs": "message", "export": "export", "stop": "stops",
		"usage": "usage", "du": "du", "rm": "managed", "locks": "locks", "doctor": "doctor",
	}[args[0]]
	switch {
	case slices.Contains(args, "--orphans"):
		part = "orphans"
	case slices.Contains(args, "--limits"):
		part = "limits"
	case part == "message" && bytes.HasPrefix(out, []byte("[")):
		part = "messages"
	}
	for values := json.NewDecoder(bytes.NewReader(out)); part != ""; {
		var value json.RawMessage
		if err := values.Decode(&value); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		if err := schema.Check(part, string(value)); err != nil {
			return err
		}
	}
	return nil
}

// objects fails unless each line on stderr is a JSON object.
func objects(errs []byte) error {
	for line := range bytes.Lines(errs) {
		var object map[string]any
		if err := json.Unmarshal(line, &object); err != nil {
			return err
		}
	}
	return nil
}
