package realagents

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"agentctl/tests/must"
	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
	"agentctl/tests/trace"
)

// TestNothingIsWritten looks at live agents through the traced program: no system call changes or write-locks
// anything, anywhere, and no file in the world's home changes in content, size, mode, owner or time. The agents are
// suspended meanwhile, so that any change would be ours.
func TestNothingIsWritten(t *testing.T) {
	w := world.New(t)
	c := agentctlIn(t, w)
	var live []*world.Process
	var some string
	for _, r := range []install.Release{
		{Agent: install.ClaudeCode, Version: install.ClaudeCurrent},
		{Agent: install.Codex, Version: install.CodexCurrent},
		{Agent: install.OpenCode, Version: install.OpenCodeCurrent},
		{Agent: install.Pi, Version: install.PiCurrent},
		{Agent: install.Copilot, Version: install.CopilotCurrent},
	} {
		a := w.Release(r)
		prompt := "lives in " + a.Agent() + " [[hang]]"
		a.Run("ended before").Wait()
		live = append(live, a.Run(prompt))
		w.WaitCall(prompt, 0)
		some = idOf(t, w, a, prompt)
	}
	if !poll(func() bool { return len(c.list()) == 5 }) {
		t.Fatalf("%q, want five live sessions", rowsOf(c.list()))
	}
	for _, p := range live {
		p.Signal(syscall.SIGSTOP)
		defer p.Signal(syscall.SIGCONT)
	}
	before := photograph(t, w.Home)
	outputs, memory := map[string]string{}, regexp.MustCompile(`"memory": ?[0-9]+`)
	for range 2 {
		for _, args := range [][]string{
			{"list"},
			{"list", "-a", "--json"},
			{"list", "-a", "--tokens", "--children"},
			{"status", some, "--explain"},
			{"status", some, "--json"},
			{"peek", fmt.Sprint("pid:", live[0].PID()), "--children", "--json"},
			{"peek", fmt.Sprint("pid:", live[1].PID()), "--children", "--json"},
			{"peek", some, "--children", "--json"},
			{"export", some, fmt.Sprint("pid:", live[0].PID()), fmt.Sprint("pid:", live[1].PID()), "--children", "--json"},
			{"search", "--since", "all", "--children", "."},
			{"search", "--since", "all", "--json", "the"},
			{"doctor"},
			{"doctor", "--json"},
			{"current"},
			{"list", "--cwd", w.Home},
			{"list", "--wide"},
			{"usage", "--since", "all"},
			{"usage", "--limits"},
			{"du"},
		} {
			out := traced(t, []string{"HOME=" + w.Home, "PATH=" + os.Getenv("PATH")}, args...)
			key := strings.Join(args, " ")
			sessions := strings.Contains(key, "--json") && args[0] != "doctor" // which counts the machine's processes
			said := memory.ReplaceAllString(out, "")                           // the kernel may take some away meanwhile
			if first, again := outputs[key]; again && sessions && first != said {
				t.Errorf("two calls of %q differ:\n%s\n%s", key, first, said)
			}
			outputs[key] = said
		}
	}
	for _, call := range tracedEvents(t, w.Home).Changes("/") {
		t.Errorf("events: %s %s of %s (%d)", call.Name, call.Effect, call.Path, call.Ret)
	}
	after := photograph(t, w.Home)
	for path, was := range before {
		if after[path] != was {
			t.Errorf("%s was %s, is %s", path, was, after[path])
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d files before, %d after", len(before), len(after))
	}
}

// traced is what a command prints that neither writes nor opens secrets, nor starts a program that does. It is run until git has
// answered it in time, which may take git several tries under the tracer.
func traced(t *testing.T, environ []string, args ...string) string {
	t.Helper()
	var out, errs string
	var result trace.Result
	poll(func() bool {
		result, out, errs = traceOnce(t, environ, args)
		unchanged(t, args, result)
		return result.Exit != 6 || !strings.Contains(errs, "git takes longer")
	})
	if result.Exit == 6 {
		t.Errorf("%q: exit 6: %s", args, errs)
	}
	return out
}

// traceOnce traces a command once.
func traceOnce(t *testing.T, environ, args []string) (result trace.Result, stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	cmd := exec.Command(os.Getenv(binary), args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = environ, &out, &errs
	result, err := trace.Run(cmd)
	must.Do(t, err)
	return result, out.String(), errs.String()
}

// unchanged checks that a command has written nothing and opened no secrets.
func unchanged(t *testing.T, args []string, result trace.Result) {
	t.Helper()
	for _, call := range result.Changes("/") {
		t.Errorf("%q: %s %s of %s (%d)", args, call.Name, call.Effect, call.Path, call.Ret)
	}
	for _, path := range trace.Opened(result.Calls) {
		if name := filepath.Base(path); strings.HasSuffix(name, ".key") || name == "auth.json" || name == ".credentials.json" {
			t.Errorf("%q opens the secret %s", args, path)
		}
	}
}

// sendsTraced sends a message, which must be delivered, and checks that agentctl itself writes nothing and opens no secrets, and that
// it starts only the given program of the agent, if any. What that writes is the agent's.
func (c agentctl) sendsTraced(starts, id, text string) {
	c.t.Helper()
	args := []string{"send", id, text}
	result, out, errs := traceOnce(c.t, append([]string{"HOME=" + c.home, "PATH=" + os.Getenv("PATH")}, c.env...), args)
	if result.Exit != 0 || out != id+"  delivered\n" {
		c.t.Errorf("%q: exit code %d, %s%s", args, result.Exit, out, errs)
	}
	own := result.Of(os.Getenv(binary))
	if len(trace.Opened(own.Calls)) == 0 {
		c.t.Errorf("%q: no call of agentctl is seen", args)
	}
	unchanged(c.t, args, own)
	started := false
	for _, call := range result.Calls {
		if call.Name != "execve" || call.Ret < 0 {
			continue
		}
		if call.Program == os.Getenv(binary) && call.Path != starts { // what the agent's program starts is the agent's too
			c.t.Errorf("%q starts %s", args, call.Path)
		}
		started = started || call.Path == starts
	}
	if started != (starts != "") {
		c.t.Errorf("%q starts %q: %v", args, starts, started)
	}
}

// tracedEvents is what a stream of events does until it is interrupted, once it has told something and has watched.
func tracedEvents(t *testing.T, home string) trace.Result {
	t.Helper()
	r, w, err := os.Pipe()
	must.Do(t, err)
	defer r.Close()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	cmd := exec.CommandContext(ctx, os.Getenv(binary), "events", "--initial")
	cmd.Env, cmd.Stdout = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}, w
	cmd.Stderr = &strings.Builder{}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	go func() {
		_, _ = bufio.NewReader(r).ReadString('\n') // the trace tells
		<-time.After(time.Second)
		stop()
	}()
	result, err := trace.Run(cmd)
	if err != nil || result.Exit != 130 {
		t.Errorf("events: exit code %d, %v", result.Exit, err)
	}
	w.Close()
	return result
}

// photograph notes of every file below dir what a change would change.
func photograph(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			return err
		}
		content := ""
		if st.Mode&unix.S_IFMT == unix.S_IFREG {
			raw, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			content = fmt.Sprintf("%x", sha256.Sum256(raw))
		}
		out[path] = fmt.Sprint(st.Mode, st.Size, st.Uid, st.Gid, st.Ino, st.Mtim, st.Ctim, content)
		return nil
	})
	must.Do(t, err)
	return out
}
