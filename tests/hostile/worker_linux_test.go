package hostile

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// outcome is what came of one case.
type outcome struct {
	Case      int
	Kind      string
	What      []string // what was done
	Runs      map[string]int
	Mutations int
	Kills     int
	Lies      int
	LeftOut   []string // what the system does not allow
	Failures  []failure
	Slowest   run
	Largest   run // by resident memory
}

// failure is something that must not happen.
type failure struct{ Class, Detail string }

// run is what is kept of one run of agentctl, for the figures.
type run struct {
	Args []string
	Took time.Duration
	RSS  int64 // bytes; 0 if it is less than what this program takes itself
}

// worker runs cases one after the other.
type worker struct {
	job
	bases     []base
	innocents innocents
	port      int          // on which nobody may connect
	visitors  atomic.Int64 // how many have
	listener  net.Listener
	launch    time.Duration // how long a launch takes
}

func newWorker(j job) (*worker, error) {
	w := &worker{job: j, launch: 200 * time.Millisecond}
	err := w.memoryDisk()
	if err != nil {
		return nil, err
	}
	if w.bases, err = loadBases(j.Bases); err != nil {
		return nil, err
	}
	if w.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	w.port = w.listener.Addr().(*net.TCPAddr).Port
	go func() {
		for {
			c, err := w.listener.Accept()
			if err != nil {
				return
			}
			w.visitors.Add(1)
			_ = c.Close()
		}
	}()
	if w.innocents, err = startInnocents(); err != nil {
		return nil, err
	}
	return w, nil
}

// memoryDisk mounts memory where the cases are, if this is a mount namespace of the worker's own: writing to disk takes longer
// than all else, and devices can be opened there.
func (w *worker) memoryDisk() error {
	if space, err := os.Readlink("/proc/self/ns/mnt"); err != nil || space == w.Mounts || os.Geteuid() != 0 {
		return err
	}
	return unix.Mount("tmpfs", w.Dir, "tmpfs", 0, "size=4g,mode=755")
}

func (w *worker) close() {
	_ = w.listener.Close()
	w.innocents.end()
}

// trial is one case as it is played.
type trial struct {
	*worker
	*rand.Rand
	outcome
	dir     string // of this case
	home    string // HOME
	repo    string // a git repository
	canary  string // a directory that stays empty
	path    string // PATH
	env     []string
	touched map[string]bool // paths below home whose content is not what it was
	hung    bool            // a run did not end
	traps   int             // how many directories are dangerous to read in
	armed   bool            // the repository has git run programs
	after   func(*call)     // is called after each run, if it is not nil
}

// kinds are the cases, each as often as it stands here.
func kinds() []string {
	return []string{
		"store", "store", "store", "store", "store", "store", "store", "store", "store", "store", "repository", "repository", "repository", "liar", "liar", "kill", "kill",
	}
}

func newTrial(w *worker, k int) *trial {
	return &trial{
		worker: w, Rand: rand.New(rand.NewPCG(w.Seed, uint64(k))), touched: map[string]bool{},
		outcome: outcome{Case: k, Runs: map[string]int{}},
	}
}

func (w *worker) runCase(k int) outcome {
	t := newTrial(w, k)
	t.Kind = kinds()[t.IntN(len(kinds()))]
	if w.Kind != "" {
		t.Kind = w.Kind
	}
	if err := t.prepare(); err != nil {
		t.fail("generator", "%v", err)
		return t.outcome
	}
	visitors := w.visitors.Load()
	var err error
	switch t.Kind {
	case "store":
		err = t.store()
	case "repository":
		err = t.repository()
	case "liar":
		err = t.liar()
	case "kill":
		err = t.kill()
	}
	if err != nil {
		t.fail("generator", "%v", err)
	}
	t.canaries(visitors)
	t.finish()
	return t.outcome
}

// prepare makes the directories of a case.
func (t *trial) prepare() (err error) {
	if t.dir, err = os.MkdirTemp(t.Dir, fmt.Sprintf("%d-*", t.Case)); err != nil {
		return err
	}
	t.home, t.repo, t.canary = filepath.Join(t.dir, "home"), filepath.Join(t.dir, "repo"), filepath.Join(t.dir, "canary")
	for _, dir := range []string{t.home, t.canary, filepath.Join(t.dir, "config/agentctl"), filepath.Join(t.dir, "state"), filepath.Join(t.dir, "bin")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if err := copyTree(filepath.Join(t.Bases, "repo"), t.repo); err != nil {
		return err
	}
	// Nothing that agentctl only reads for starts a program but git.
	for _, name := range []string{"claude", "codex", "opencode", "node", "curl", "ssh", "sh-canary"} {
		script := fmt.Sprintf("#!/bin/sh\necho \"$0 $*\" >>'%s/%s'\n", t.canary, name)
		if err := os.WriteFile(filepath.Join(t.dir, "bin", name), []byte(script), 0o755); err != nil {
			return err
		}
	}
	t.path = filepath.Join(t.dir, "bin") + ":" + os.Getenv("PATH")
	t.env = t.environment("PATH=" + t.path)
	return nil
}

// environment is that of agentctl and the agents in this case, and nothing of the tests' own.
func (t *trial) environment(more ...string) []string {
	return append([]string{
		"HOME=" + t.home, "TZ=UTC", "LANG=C.UTF-8", "XDG_CONFIG_HOME=" + filepath.Join(t.dir, "config"), "XDG_STATE_HOME=" + filepath.Join(t.dir, "state"),
		"TMPDIR=" + os.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@t", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@t", "USER=tester", "PAGER=cat",
	}, more...)
}

func (t *trial) fail(class, format string, args ...any) {
	t.Failures = append(t.Failures, failure{class, fmt.Sprintf(format, args...)})
}

func (t *trial) note(format string, args ...any) {
	t.What = append(t.What, fmt.Sprintf(format, args...))
}

// canaries checks that nothing was run, contacted or signalled that must not be.
func (t *trial) canaries(visitors int64) {
	if list, err := os.ReadDir(t.canary); err != nil || len(list) > 0 {
		var all []string
		for _, e := range list {
			raw, _ := os.ReadFile(filepath.Join(t.canary, e.Name()))
			all = append(all, e.Name()+": "+strings.TrimSpace(string(raw)))
		}
		t.fail("command run", "the canary directory holds %q (%v)", all, err)
	}
	if n := t.visitors.Load(); n != visitors {
		t.fail("port contacted", "%d connections to a port that is no agent's of ours", n-visitors)
	}
	if dead := t.innocents.dead(); len(dead) > 0 {
		t.fail("innocent signalled", "%v", dead)
	}
}

// finish removes the case's directory, unless it is asked for, and gives memory back, so that it does not count as a child's.
func (t *trial) finish() {
	if len(t.Failures) > 0 && t.Keep != "" {
		to := filepath.Join(t.Keep, fmt.Sprintf("%d-%d", t.Seed, t.Case))
		if out, err := exec.Command("cp", "-a", t.dir, to).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "hostile: keeping: %v: %s\n", err, out)
		}
	}
	if err := os.RemoveAll(t.dir); err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
	}
	debug.FreeOSMemory()
}
