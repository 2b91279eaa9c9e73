package proc

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"agentctl/tests/must"
)

func TestTableHoldsThisProcess(t *testing.T) {
	p, ok := take(t).ByPID(os.Getpid())
	if !ok {
		t.Fatal("this process is not in the table")
	}
	exe, err := os.Executable()
	must.Do(t, err)
	session, err := unix.Getsid(0)
	must.Do(t, err)
	if p.Parent != os.Getppid() || p.Group != unix.Getpgrp() || p.Session != session || p.UID != os.Geteuid() || p.Exe != exe || p.Deleted || !p.Alive() {
		t.Errorf("%+v", p)
	}
	now := inspect(t, os.Getpid())
	if now.ID != p.ID || now.Ticks != p.Ticks || !now.Started.Equal(p.Started) || now.Started.IsZero() {
		t.Errorf("Inspect says %+v, the table %+v", now, p)
	}
}

func TestZombieIsDead(t *testing.T) {
	c := start(t, "wait")
	before := inspect(t, c.Process.Pid)
	c.zombify(t)
	p := inspect(t, c.Process.Pid)
	if p.Alive() || p.ID != before.ID {
		t.Errorf("before its end %+v, as a zombie %+v", before, p)
	}
	table := take(t)
	if _, ok := table.ByPID(c.Process.Pid); !ok {
		t.Error("the zombie is not in the table")
	}
	if _, ok := table.Find(before.ID); ok {
		t.Error("the zombie is found as if it lived")
	}
	mustAllBeGone(t, before)
}

func TestEndedProcessIsGone(t *testing.T) {
	c := start(t, "wait")
	p := inspect(t, c.Process.Pid)
	c.end(t)
	mustAllBeGone(t, p)
	if _, err := Inspect(p.ID.PID); !errors.Is(err, ErrGone) {
		t.Errorf("Inspect: %v", err)
	}
}

// mustAllBeGone asks everything that can be asked of a process that has ended.
func mustAllBeGone(t *testing.T, p Process) {
	t.Helper()
	questions := map[string]func() error{
		"Args":          func() error { _, err := p.Args(); return err },
		"Dir":           func() error { _, err := p.Cwd(); return err },
		"Env":           func() error { _, err := p.Env("HOME"); return err },
		"OpenFiles":     func() error { _, err := p.OpenFiles(func(string) bool { return true }); return err },
		"ListenPorts":   func() error { _, err := p.ListenPorts(); return err },
		"NamespacePIDs": func() error { _, err := p.NamespacePIDs(); return err },
		"Open":          func() error { _, err := Open(p.ID); return err },
	}
	for name, ask := range questions {
		if err := ask(); !errors.Is(err, ErrGone) {
			t.Errorf("%s of an ended process: %v, want ErrGone", name, err)
		}
	}
}

func TestAnyNameAndPath(t *testing.T) {
	for _, name := range []string{"a) R 1 9", ")", "(sd-pam)", "two\nlines", "tab\there", "naïve", "not\xffutf8", "x (deleted)"} {
		t.Run(strconv.Quote(name), func(t *testing.T) {
			path := copyOfMe(t, name)
			c := start(t, "wait", func(c *exec.Cmd) { c.Path = path })
			p, ok := take(t).ByPID(c.Process.Pid)
			if !ok {
				t.Fatal("not in the table")
			}
			if p.Name != name[:min(len(name), 15)] || p.Exe != path || p.Deleted || p.Parent != os.Getpid() {
				t.Errorf("%+v", p)
			}
			must.Do(t, os.Remove(path))
			if p = inspect(t, c.Process.Pid); p.Exe != path || !p.Deleted {
				t.Errorf("after its removal: exe %q, deleted %v", p.Exe, p.Deleted)
			}
			// An update puts another file in its place.
			must.Do(t, os.WriteFile(path, nil, 0o600))
			if p = inspect(t, c.Process.Pid); p.Exe != path || !p.Deleted {
				t.Errorf("after an update: exe %q, deleted %v", p.Exe, p.Deleted)
			}
		})
	}
}

// copyOfMe returns the path of a copy of this test's binary that has the given name.
func copyOfMe(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if raw, err := os.ReadFile("/proc/self/exe"); err != nil {
		t.Fatal(err)
	} else if err := os.WriteFile(path, raw, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestMainThreadEnded: a process whose main thread has ended lives as long as another thread does.
func TestMainThreadEnded(t *testing.T) {
	c := start(t, "headless")
	p := inspect(t, c.Process.Pid)
	for deadline := time.Now().Add(10 * time.Second); !mainThreadEnded(t, p) && time.Now().Before(deadline); {
		<-time.After(time.Millisecond)
	}
	p = inspect(t, c.Process.Pid)
	if _, found := take(t).Find(p.ID); !mainThreadEnded(t, p) || !p.Alive() || !found {
		t.Fatalf("%+v, found %v", p, found)
	}
	h, err := Open(p.ID)
	must.Do(t, err)
	defer h.Close()
	if err := h.Signal(0); err != nil {
		t.Error(err)
	}
	c.end(t)
	if _, err := Inspect(p.ID.PID); !errors.Is(err, ErrGone) {
		t.Errorf("after its end: %v", err)
	}
}

func mainThreadEnded(t *testing.T, p Process) bool {
	t.Helper()
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(p.ID.PID) + "/stat")
	return err == nil && strings.Contains(string(raw), ") Z ")
}

func TestThreadIsNoProcess(t *testing.T) {
	threads, err := mount("/proc").pid(os.Getpid()).listNumbers("task")
	must.Do(t, err)
	if len(threads) < 2 {
		t.Fatal("this process has no second thread to look at")
	}
	table := take(t)
	for _, id := range threads {
		if id == os.Getpid() {
			continue
		}
		if p, err := Inspect(id); !errors.Is(err, ErrGone) {
			t.Errorf("Inspect(thread %d): %+v, %v", id, p, err)
		}
		if _, ok := table.ByPID(id); ok {
			t.Errorf("thread %d is in the table", id)
		}
		if _, err := Open(ID{PID: id, Birth: inspect(t, os.Getpid()).ID.Birth}); !errors.Is(err, ErrGone) {
			t.Errorf("Open(thread %d): %v", id, err)
		}
	}
}

func TestVanishingProcessesAreLeftOut(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for ctx.Err() == nil {
				if err := exec.Command("true").Run(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range 50 {
		if _, ok := take(t).Find(inspect(t, os.Getpid()).ID); !ok {
			t.Error("this process is missing")
		}
	}
	stop()
	wg.Wait()
}

func TestReadTableEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ReadTable(ctx, false); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestKernelThread has neither binary nor arguments, and is no error. (A container shows none.)
func TestKernelThread(t *testing.T) {
	table := take(t)
	if daemon, ok := table.ByPID(2); !ok || daemon.Name != "kthreadd" || daemon.Parent != 0 {
		t.Skip("this pid namespace has no kernel threads")
	}
	for p := range table.Children(2) {
		args, err := p.Args()
		if errors.Is(err, ErrGone) {
			continue
		}
		if err != nil || len(args) != 0 || p.Exe != "" {
			t.Errorf("%+v: arguments %q, %v", p, args, err)
		}
	}
}

// TestProcessThatExecutedAnotherProgram: a process that has executed another program since the table was read returns no
// facts for the earlier one.
func TestProcessThatExecutedAnotherProgram(t *testing.T) {
	for range 20 {
		becomesAnother(t)
	}
}

func becomesAnother(t *testing.T) {
	cmd := exec.Command("/bin/sh", "-c", "read x; exec sleep 1000")
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	must.Do(t, err)
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	before := inspect(t, cmd.Process.Pid)
	if _, err := in.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	now := before
	for now.Exe == before.Exe {
		now = inspect(t, cmd.Process.Pid)
	}
	if now.ID != before.ID {
		t.Fatalf("%v is not %v", now.ID, before.ID)
	}
	if args, err := before.Args(); !errors.Is(err, ErrGone) {
		t.Errorf("arguments %q, %v", args, err)
	}
	if _, err := before.Cwd(); !errors.Is(err, ErrGone) {
		t.Errorf("directory: %v", err)
	}
	if used, err := before.Usage(); !errors.Is(err, ErrGone) {
		t.Errorf("usage %+v, %v", used, err)
	}
}

// TestForkNoExec: a subshell is a fork that has executed nothing. It does not count as running the shell, whether its
// parent is alive or not.
func TestForkNoExec(t *testing.T) {
	cmd := exec.Command("sh", "-c", "(read line; echo heard; read line); echo never")
	const mark = "AGENTCTL_TEST_COPY"
	cmd.Env = append(os.Environ(), mark+"=1")
	in, err := cmd.StdinPipe()
	must.Do(t, err)
	pipe, err := cmd.StdoutPipe()
	must.Do(t, err)
	out := bufio.NewReader(pipe)
	must.Do(t, cmd.Start())
	parent := cmd.Process.Pid
	defer func() {
		_ = cmd.Process.Kill()
		_ = in.Close() // the copy reads it, and ends
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
	}()
	if _, err := io.WriteString(in, "\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := out.ReadString('\n'); line != "heard\n" {
		t.Fatal(line, err)
	}
	table, running := marked(t, mark)
	children := pids(table.Children(parent))
	if len(children) != 1 || !slices.Equal(running, []int{parent}) {
		t.Errorf("beside its parent %d, which has the children %v: %v", parent, children, running)
	}
	must.Do(t, cmd.Process.Kill())
	if shell, ok := table.ByPID(parent); ok {
		if h, err := Open(shell.ID); err == nil {
			_ = h.Wait(t.Context()) // it stays, as a zombie
			_ = h.Close()
		}
	}
	table, running = marked(t, mark)
	if copied, ok := table.ByPID(children[0]); !ok || !copied.Alive() || len(running) > 0 {
		t.Errorf("the copy %+v without its parent: %v run", copied, running)
	}
}

// marked are the processes whose environment has the key, of those that run a program for their own sake.
func marked(t *testing.T, key string) (table *Table, found []int) {
	t.Helper()
	table, err := ReadTable(t.Context(), false)
	must.Do(t, err)
	for p := range table.Candidates(Signs{Name: func(string) bool { return true }}) {
		if env, err := p.Env(key); err == nil && env[key] != "" && p.Alive() {
			found = append(found, p.ID.PID)
		}
	}
	return table, found
}

// TestStartMonitor: a process is returned once when it starts, and once more when it executes another program.
func TestStartMonitor(t *testing.T) {
	var r StartMonitor
	self, err := os.Executable()
	must.Do(t, err)
	if all := call(t, &r); !slices.Contains(all, self) {
		t.Errorf("we are not among all: %v", all)
	}
	sh := copyOf(t, "/bin/sh", "its-own-shell")
	sleep := copyOf(t, "/bin/sleep", "its-own-sleep")
	cmd := exec.Command(sh, "-c", "echo; read x; exec "+sleep+" 1000")
	in, err := cmd.StdinPipe()
	must.Do(t, err)
	out, err := cmd.StdoutPipe()
	must.Do(t, err)
	must.Do(t, cmd.Start())
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	if _, err := out.Read(make([]byte, 1)); err != nil { // it runs
		t.Fatal(err)
	}
	if fresh := call(t, &r); !slices.Contains(fresh, sh) || slices.Contains(fresh, self) {
		t.Errorf("%v", fresh)
	}
	for range newCalls {
		if fresh := call(t, &r); slices.Contains(fresh, sh) {
			t.Errorf("once more: %v", fresh)
		}
	}
	if _, err := in.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	for inspect(t, cmd.Process.Pid).Exe != sleep {
		runtime.Gosched()
	}
	told := 0
	for range newCalls {
		if slices.Contains(call(t, &r), sleep) {
			told++
		}
	}
	if told != 1 {
		t.Errorf("another program: told %d times", told)
	}
}

func call(t *testing.T, r *StartMonitor) []string {
	t.Helper()
	fresh, err := r.Poll()
	must.Do(t, err)
	return fresh
}

// copyOf is a program under another name, so that nobody else runs it.
func copyOf(t *testing.T, program, name string) string {
	t.Helper()
	raw, err := os.ReadFile(program)
	must.Do(t, err)
	path := filepath.Join(t.TempDir(), name)
	must.Do(t, os.WriteFile(path, raw, 0o700))
	return path
}

func hold(t *testing.T, id ID) *Handle {
	t.Helper()
	h, err := Open(id)
	must.Do(t, err)
	t.Cleanup(func() { _ = h.Close() })
	return h
}

func TestHandleSignalsAndWaits(t *testing.T) {
	c := start(t, "wait")
	h := hold(t, inspect(t, c.Process.Pid).ID)
	ended := make(chan error)
	go func() { ended <- h.Wait(t.Context()) }()
	must.Do(t, h.Signal(unix.SIGTERM))
	must.Do(t, <-ended)
	// It is a zombie now, and takes no more signals.
	if err := h.Signal(unix.SIGKILL); !errors.Is(err, ErrGone) {
		t.Errorf("signal to a zombie: %v", err)
	}
	var exit interface{ Sys() any }
	if err := c.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != unix.SIGTERM {
		t.Errorf("ended by %v", err)
	}
	if err := h.Signal(unix.SIGKILL); !errors.Is(err, ErrGone) {
		t.Errorf("signal to a collected process: %v", err)
	}
	if err := h.Wait(t.Context()); err != nil {
		t.Errorf("second wait: %v", err)
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	c := start(t, "wait")
	h := hold(t, inspect(t, c.Process.Pid).ID)
	ctx, cancel := context.WithCancel(t.Context())
	patient := make(chan error, 1)
	go func() { patient <- h.Wait(t.Context()) }()
	var cancelled sync.WaitGroup
	for range 20 {
		cancelled.Go(func() {
			if err := h.Wait(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled wait: %v", err)
			}
		})
	}
	cancel()
	if err := h.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("wait with an ended context: %v", err)
	}
	cancelled.Wait()
	select {
	case err := <-patient:
		t.Errorf("the process lives, but a wait returned %v", err)
	default:
	}
	c.zombify(t)
	if err := <-patient; err != nil {
		t.Errorf("patient wait: %v", err)
	}
}

func TestClosedHandle(t *testing.T) {
	h := hold(t, inspect(t, os.Getpid()).ID)
	must.Do(t, h.Close())
	if err := h.Signal(0); !errors.Is(err, os.ErrClosed) {
		t.Errorf("signal: %v", err)
	}
	if err := h.Wait(t.Context()); !errors.Is(err, os.ErrClosed) {
		t.Errorf("wait: %v", err)
	}
	if err := h.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("close: %v", err)
	}
}

// A process that sleeps has run when it was started, and the end of a connection says when data came last.
func TestActivity(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	defer listener.Close()
	conn, err := net.Dial("tcp", listener.Addr().String())
	must.Do(t, err)
	defer conn.Close()
	sent := time.Now()
	if _, err := conn.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	file, err := conn.(*net.TCPConn).File()
	must.Do(t, err)
	defer file.Close()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	must.Do(t, err)
	defer out.Close()
	must.Do(t, os.Chtimes(out.Name(), time.Now(), time.Unix(1000, 0)))
	cmd := exec.Command("sleep", "1000")
	cmd.Stdout, cmd.ExtraFiles = out, []*os.File{file}
	started := time.Now()
	must.Do(t, cmd.Start())
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	p, err := Inspect(cmd.Process.Pid)
	must.Do(t, err)
	a, err := p.Activity()
	const blur = 100 * time.Millisecond // of the clocks
	switch {
	case err != nil:
		t.Fatal(err)
	case !a.LastOutput.Equal(time.Unix(1000, 0)), !a.LastWrite.Equal(a.LastOutput), a.WatchesFiles, len(a.Sockets) != 1:
		t.Errorf("%+v", a)
	case !a.LastRun.IsZero() && (a.LastRun.Before(started.Add(-blur)) || a.LastRun.After(time.Now().Add(blur))): // a kernel may not tell
		t.Errorf("ran at %v, started at %v", a.LastRun, started)
	}
	sockets, err := ReadTCPSockets()
	must.Do(t, err)
	listens, ends := false, 0
	for _, s := range sockets {
		listens = listens || s.Listens && s.Local.String() == listener.Addr().String()
		if a.Sockets[s.Inode] {
			ends++
			if s.Listens || s.Local.String() != conn.LocalAddr().String() || s.Remote.String() != listener.Addr().String() {
				t.Errorf("%+v", s)
			}
			if s.LastMoved.Before(sent.Add(-blur)) || s.LastMoved.After(time.Now().Add(blur)) {
				t.Errorf("moved at %v, sent at %v", s.LastMoved, sent)
			}
		}
	}
	if !listens || ends != 1 {
		t.Errorf("listens: %v, %d connections of %d", listens, ends, len(sockets))
	}
}
