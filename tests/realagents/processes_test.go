package realagents

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"agentctl/tests/realagents/world"
)

// living reports whether a process runs: a zombie does not.
func living(pid int) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	i := strings.LastIndexByte(string(raw), ')')
	return err == nil && i > 0 && !strings.HasPrefix(string(raw[i:]), ") Z") && !strings.HasPrefix(string(raw[i:]), ") X")
}

// kill ends a process at once and returns when it is gone.
func kill(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil || !poll(func() bool { return !living(pid) }) {
		t.Fatalf("killing %d: %v", pid, err)
	}
}

// processesWhere are the living processes whose file in /proc holds the text.
func processesWhere(file, text string) (pids []int) {
	names, _ := filepath.Glob("/proc/[0-9]*/" + file)
	for _, name := range names {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if raw, err := os.ReadFile(name); err == nil && bytes.Contains(raw, []byte(text)) && living(pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// commandOf is the command line of a process.
func commandOf(pid int) string {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return strings.ReplaceAll(strings.TrimRight(string(raw), "\x00"), "\x00", " ")
}

// runs reports whether a process runs the release's program, without a launcher between.
func runs(pid int, a world.Agent) bool {
	exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	native, _ := filepath.EvalSymlinks(cmp.Or(a.Runtime, a.Native))
	return err == nil && exe == native
}

// inhabitants are the living processes that were started with a home, as a person could read them.
func inhabitants(home string) (out []string) {
	for _, pid := range processesWhere("environ", "HOME="+home+"\x00") {
		out = append(out, fmt.Sprintf("%d %s", pid, commandOf(pid)))
	}
	return out
}

// toolsOf are the living processes that a Codex thread's tools run, sub-agents' included.
func toolsOf(id string) (pids []int) {
	pids = append(processesWhere("environ", "CODEX_THREAD_ID="+id), processesWhere("environ", "CODEX_SESSION_ID="+id)...)
	slices.Sort(pids)
	return slices.Compact(pids)
}

// alone are the processes of a session in a shared process that are its alone. The shared one stands above them.
func (c agentctl) alone(id string, shared int) (pids []int) {
	c.t.Helper()
	tree := c.status(id).Processes
	if len(tree) == 0 || tree[0].PID != shared || !tree[0].Shared {
		c.t.Fatalf("it is not below %d: %+v", shared, tree)
	}
	for _, p := range tree[1:] {
		if !p.Shared && p.Adapter == "" {
			pids = append(pids, p.PID)
		}
	}
	slices.Sort(pids)
	return pids
}

// commandOfTool is what the process of a tool has in its command line.
func commandOfTool(tool *world.Tool) string {
	words := strings.Fields(tool.Command)
	return words[len(words)-1]
}

// apart runs every test as a process of its own, as many at a time as there are processors, and returns the exit code.
// Agents wait much of their time, and a test that sees the whole machine has to be alone in its sandbox, not in time.
func apart() int {
	// What is told to end ends all of them: each process of a sandbox dies with the one above it.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer stop()
	tests, err := names()
	if err != nil {
		fmt.Fprintln(os.Stderr, "listing the tests:", err)
		return 1
	}
	longest := []string{"TestSupport", "TestSessionsAreListedAsTheyAre"} // first, so that nobody waits for them in the end
	queue := make(chan string, len(tests))
	for _, name := range append(longest, slices.DeleteFunc(tests, func(name string) bool { return slices.Contains(longest, name) })...) {
		queue <- name
	}
	close(queue)
	var (
		workers sync.WaitGroup
		said    sync.Mutex
		failed  int
	)
	for range max(2, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for name := range queue {
				began := time.Now()
				out, used, err := one(ctx, name)
				said.Lock()
				if err != nil {
					failed++
				}
				if err != nil || testing.Verbose() {
					fmt.Printf("%s\n", bytes.TrimSpace(out))
				}
				fmt.Printf("%s: %.1f s, %.1f s of a processor, %s\n", name, time.Since(began).Seconds(), used.Seconds(), ending(err))
				said.Unlock()
			}
		})
	}
	workers.Wait()
	if failed > 0 {
		fmt.Printf("FAIL: %d of %d tests\n", failed, len(tests))
		return 1
	}
	fmt.Println("PASS")
	return 0
}

// names are those of all tests of this program.
func names() ([]string, error) {
	out, err := exec.Command(os.Args[0], "-test.list", ".").Output()
	if err != nil {
		return nil, err
	}
	tests := strings.Fields(string(out))
	if len(tests) == 0 {
		return nil, errors.New("there is none")
	}
	return tests, nil
}

// one runs one test, with the flags that we were given. What it used is the time of processors that it took with all that it
// started.
func one(ctx context.Context, name string) (out []byte, used time.Duration, err error) {
	cmd := exec.CommandContext(ctx, os.Args[0], append(flags(), "-test.run", "^"+name+"$")...)
	out, err = cmd.CombinedOutput()
	if state := cmd.ProcessState; state != nil {
		used = state.UserTime() + state.SystemTime()
	}
	return out, used, err
}

// flags are those that we were given, but for the log of what tests read, which has one writer.
func flags() []string {
	var out []string
	for _, arg := range os.Args[1:] {
		if !strings.HasPrefix(arg, "-test.testlogfile") {
			out = append(out, arg)
		}
	}
	return out
}

func ending(err error) string {
	if err != nil {
		return "FAILED: " + err.Error()
	}
	return "ok"
}
