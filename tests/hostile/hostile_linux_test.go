package hostile

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"agentctl/tests/extent"
)

// TestHostile plays the cases: see the package.
func TestHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute of both processors")
	}
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("git is not installed")
	}
	j := job{Seed: *seed, Count: *number, Only: *only, Kind: *kind, Keep: *keep, Step: max(1, *workers)}
	if j.Count == 0 {
		j.Count = 80
		if extent.All() {
			j.Count = 240
		}
	}
	if *span > 0 {
		j.Count = 0
	}
	if j.Seed == 0 {
		j.Seed = 1
		if *span > 0 {
			j.Seed = rand.Uint64()
		}
	}
	if j.Only >= 0 {
		j.Step = 1
	}
	build(t, &j)
	if *span > 0 {
		j.End = time.Now().Add(*span)
	}
	t.Logf("-hostile.seed %d", j.Seed)
	begun := time.Now()
	var sum figures
	var wg sync.WaitGroup
	for n := range j.Step {
		wg.Go(func() {
			j := j
			j.First = n
			if err := sum.collect(j, t); err != nil {
				t.Errorf("worker %d: %v", n, err)
			}
		})
	}
	wg.Wait()
	t.Logf("%s\n%s", time.Since(begun).Round(time.Second), sum.text())
	if len(sum.leftOut) > 0 && os.Getenv("CI") == "true" && os.Geteuid() == 0 {
		t.Errorf("left out: %v", sum.leftOut)
	}
}

// build makes what all workers share: the programs, and the undamaged stores.
func build(t *testing.T, j *job) {
	t.Helper()
	dir, err := os.MkdirTemp("", "hostile-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	// Whoever is played as another user must reach what is here.
	for _, sub := range []string{"", "cases", "bases", "agents"} {
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, sub), 0o755), os.Chmod(filepath.Join(dir, sub), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	j.Dir, j.Bases, j.Agents, j.Binary = filepath.Join(dir, "cases"), filepath.Join(dir, "bases"), filepath.Join(dir, "agents"), filepath.Join(dir, "agentctl")
	if out, err := exec.Command("../build", j.Binary).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := errors.Join(makeFakes(filepath.Join(j.Agents, "fake")), makeLiars(j.Agents)); err != nil {
		t.Fatal(err)
	}
	if err := makeBases(j.Bases); err != nil {
		t.Fatal(err)
	}
	if j.Mounts, err = os.Readlink("/proc/self/ns/mnt"); err != nil {
		t.Fatal(err)
	}
	if j.Keep != "" {
		if err := os.MkdirAll(j.Keep, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// makeFakes makes the scripted agents of the end-to-end tests.
func makeFakes(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	program := filepath.Join(dir, "e2e.test")
	if out, err := exec.Command("go", "test", "-c", "-o", program, "../e2e").CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	for _, name := range []string{"claude", "codex", "opencode"} {
		if err := os.Link(program, filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// figures are the sums of all outcomes.
type figures struct {
	mu                     sync.Mutex
	cases, runs            map[string]int
	mutations, kills, lies int
	leftOut, failures      map[string]int
	seeds                  map[string]int // the first case of a class of failures
	slowest, largest       run
}

// collect runs a worker and adds up its outcomes.
func (f *figures) collect(j job, t *testing.T) error {
	raw, err := json.Marshal(j)
	if err != nil {
		return err
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"=worker", jobVariable+"="+string(raw))
	cmd.Stderr = os.Stderr
	// It is to end with us; the kernel goes by the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	played := 0
	for lines := bufio.NewReader(out); ; played++ {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		var o outcome
		if err := json.Unmarshal(line, &o); err != nil {
			return errors.Join(fmt.Errorf("%w in %.200q", err, line), cmd.Process.Kill(), cmd.Wait())
		}
		f.add(o)
		for _, x := range o.Failures {
			t.Errorf("-hostile.seed %d -hostile.case %d%s: %s: %s\n%s", j.Seed, o.Case, kindFlag(j.Kind), x.Class, x.Detail, strings.Join(o.What, "\n"))
		}
	}
	if played == 0 {
		err = errors.New("no case was played")
	}
	return errors.Join(err, cmd.Wait())
}

func kindFlag(kind string) string {
	if kind == "" {
		return ""
	}
	return " -hostile.kind " + kind
}

func (f *figures) add(o outcome) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.cases == nil {
		f.cases, f.runs, f.leftOut, f.failures, f.seeds = map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	}
	f.cases[o.Kind]++
	for verb, n := range o.Runs {
		f.runs[verb] += n
	}
	f.mutations += o.Mutations
	f.kills += o.Kills
	f.lies += o.Lies
	for _, what := range o.LeftOut {
		f.leftOut[what]++
	}
	for _, x := range o.Failures {
		f.failures[x.Class]++
		if _, ok := f.seeds[x.Class]; !ok {
			f.seeds[x.Class] = o.Case
		}
	}
	if o.Slowest.Took > f.slowest.Took {
		f.slowest = o.Slowest
	}
	if o.Largest.RSS > f.largest.RSS {
		f.largest = o.Largest
	}
}

// text is what a person reads of the figures.
func (f *figures) text() string {
	total := 0
	for _, n := range f.runs {
		total += n
	}
	var b strings.Builder
	fmt.Fprintf(&b, "cases: %s\nmutations: %d, lies: %d, kills: %d\nruns: %d (%s)\n", counts(f.cases), f.mutations, f.lies, f.kills, total, counts(f.runs))
	fmt.Fprintf(&b, "slowest run: %s, %s\n", f.slowest.Took.Round(time.Millisecond), strings.Join(quoted(f.slowest.Args), " "))
	if f.largest.RSS > 0 {
		fmt.Fprintf(&b, "most resident memory: %d MB, %s\n", f.largest.RSS>>20, strings.Join(quoted(f.largest.Args), " "))
	} else {
		fmt.Fprintf(&b, "most resident memory: less than the tests themselves take\n")
	}
	fmt.Fprintf(&b, "left out: %s\nfailures: %s\n", counts(f.leftOut), counts(f.failures))
	for _, class := range slices.Sorted(maps.Keys(f.seeds)) {
		fmt.Fprintf(&b, "first %s: case %d\n", class, f.seeds[class])
	}
	return b.String()
}

func counts(m map[string]int) string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(m)) {
		out = append(out, fmt.Sprintf("%s %d", key, m[key]))
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, ", ")
}
