package realagents

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

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
