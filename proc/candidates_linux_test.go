package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"agentctl/tests/must"
)

// startAs starts sleep with a first argument, from a copy of the binary at path if that is not "".
func startAs(t *testing.T, arg0, path string) int {
	t.Helper()
	sleep, err := exec.LookPath("sleep")
	must.Do(t, err)
	if path != "" {
		raw, err := os.ReadFile(sleep)
		if err == nil {
			err = os.WriteFile(path, raw, 0o755)
		}
		must.Do(t, err)
		sleep = path
	}
	cmd := &exec.Cmd{Path: sleep, Args: []string{arg0, "1000"}}
	must.Do(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}

// A process is a candidate by its binary's path, its short name or its first argument, by its pid, or in a thorough table.
func TestCandidates(t *testing.T) {
	dir := t.TempDir()
	named := start(t, "wait", func(c *exec.Cmd) { c.Args[0] = "my-agent" }).Process.Pid
	binary := startAs(t, "sleep", filepath.Join(dir, "agent-raw"))
	other := startAs(t, "sleep", "")
	table, err := ReadTable(t.Context(), false)
	must.Do(t, err)
	isAgent := func(name string) bool { return strings.Contains(filepath.Base(name), "agent") }
	found := pids(table.Candidates(Signs{Name: isAgent}))
	if !slices.Contains(found, named) || !slices.Contains(found, binary) || slices.Contains(found, other) {
		t.Errorf("by name: %v; want %d and %d, not %d", found, named, binary, other)
	}
	if found := pids(table.Candidates(Signs{Name: isAgent, PIDs: []int{other}})); !slices.Contains(found, other) {
		t.Errorf("by pid: %v, want %d too", found, other)
	}
	// This test has several threads; sleep has one, so that nobody looks into it.
	all, self := table.Thorough(), os.Getpid()
	null := Signs{Name: isAgent, File: func(path string) bool { return path == os.DevNull }}
	if found := pids(all.Candidates(null)); !slices.Contains(found, self) || !slices.Contains(found, named) || slices.Contains(found, other) {
		t.Errorf("by an open file: %v", found)
	}
	if found := pids(table.Candidates(null)); slices.Contains(found, self) {
		t.Errorf("a table that is not thorough knows open files: %v", found)
	}
	home := Signs{Name: isAgent, Env: []string{"PATH"}}
	if found := pids(all.Candidates(home)); !slices.Contains(found, self) {
		t.Errorf("by the environment: %v", found)
	}
	if known, unknown := all.Examined(func(p Process) bool { return p.ID.PID == other }); known != 1 || unknown != 0 {
		t.Errorf("examined: %d and %d not", known, unknown)
	}
	if table.IsThorough() || !all.IsThorough() {
		t.Error("thorough is not told from the rest")
	}
}

func TestLockHolders(t *testing.T) {
	dir := t.TempDir()
	locked, free := filepath.Join(dir, "locked"), filepath.Join(dir, "free")
	for _, name := range []string{locked, free} {
		f, err := os.Create(name)
		must.Do(t, err)
		defer f.Close()
		if name == locked {
			must.Do(t, unix.Flock(int(f.Fd()), unix.LOCK_EX))
		}
	}
	link := filepath.Join(dir, "hard-link")
	must.Do(t, os.Link(locked, link))
	table, err := ReadTable(t.Context(), false)
	must.Do(t, err)
	if got := table.LockHolders(free, filepath.Join(dir, "none")); len(got) > 0 {
		t.Errorf("nobody locks it: %v", got)
	}
	self := []int{os.Getpid()}
	if got := table.LockHolders(free, link); !slices.Equal(got, self) {
		t.Errorf("holders: %v, want %d", got, self)
	}
	ownOnly := table.Filter(func(p Process) bool { return p.ID.PID == self[0] })
	signs := Signs{Name: func(string) bool { return false }, Locked: func() []string { return []string{locked} }}
	if got := pids(ownOnly.Candidates(signs)); !slices.Equal(got, self) {
		t.Errorf("candidates by a lock: %v, want %d", got, self)
	}
	signs.Locked = func() []string { t.Error("a thorough table is asked for locks"); return nil }
	signs.File = func(path string) bool { return path == locked }
	if got := pids(ownOnly.Thorough().Candidates(signs)); !slices.Equal(got, self) {
		t.Errorf("candidates of a thorough table: %v, want %d", got, self)
	}
}

func TestParseLocks(t *testing.T) {
	raw := `1: POSIX  ADVISORY  READ  1234 fe:00:10225579 128 128
1: -> POSIX  ADVISORY  WRITE 77 fe:00:10225579 0 EOF
2: FLOCK  ADVISORY  WRITE 12783 00:2a:9 0 EOF
3: OFDLCK ADVISORY  READ  -1 fe:00:3 0 EOF
4: torn
`
	want := []FileLock{{1234, 10225579}, {12783, 9}}
	if got := parseLocks([]byte(raw)); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// becomeNobody gives up all privileges.
func becomeNobody() error {
	const nobody = 65534
	return errors.Join(syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody))
}

// roleHiding is another user's, and lets itself not be inspected.
func roleHiding() error {
	return inTurn(becomeNobody, func() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }, roleWait)
}

// roleNobody looks at its parent, which is root's.
func roleNobody() error {
	if err := becomeNobody(); err != nil {
		return err
	}
	table, err := ReadTable(context.Background(), false)
	if err != nil {
		return err
	}
	p, ok := table.ByPID(os.Getppid())
	if !ok || p.UID != 0 || p.Exe != "" || !p.Alive() || p.Name == "" || table.Hidden() {
		return fmt.Errorf("found %v, hidden %v: %+v", ok, table.Hidden(), p)
	}
	if _, err := p.Args(); err != nil {
		return fmt.Errorf("arguments: %w", err)
	}
	if used, err := p.Usage(); err != nil || used.Memory == 0 {
		return fmt.Errorf("usage: %+v, %w", used, err)
	}
	for name, ask := range map[string]func() error{
		"Dir":         func() error { _, err := p.Cwd(); return err },
		"Env":         func() error { _, err := p.Env("HOME"); return err },
		"OpenFiles":   func() error { _, err := p.OpenFiles(func(string) bool { return true }); return err },
		"ListenPorts": func() error { _, err := p.ListenPorts(); return err },
	} {
		if err := ask(); !errors.Is(err, os.ErrPermission) {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	h, err := Open(p.ID)
	if err != nil {
		return err
	}
	defer h.Close()
	if err := h.Signal(0); !errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("signal: %w", err)
	}
	return roleWait()
}

// elsewhereKey names the directory that roleElsewhere has a file system of its own on.
const elsewhereKey = "PROC_TEST_ELSEWHERE"

// roleElsewhere works in a directory whose name ours has too, on a file system that only it has. It has files open there,
// and one in the directory beside it, which it shares with us.
func roleElsewhere() error {
	dir := os.Getenv(elsewhereKey)
	private, marked := filepath.Join(dir, "private"), filepath.Join(dir, "private", "called")
	open := func(path string) func() error {
		return func() error {
			_, err := unix.Open(path, unix.O_RDWR|unix.O_CREAT, 0o600) // stays open to the end
			return err
		}
	}
	return inTurn(
		func() error { return unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") },
		func() error { return unix.Mount("tmpfs", private, "tmpfs", 0, "mode=755") },
		func() error { return os.Mkdir(marked, 0o755) },
		func() error { return os.Symlink(filepath.Join(dir, "shared"), filepath.Join(private, "link")) },
		func() error { return os.Chdir(marked) },
		open(filepath.Join(private, "file")),
		open(filepath.Join(marked, "file")),
		open(filepath.Join(dir, "shared", "file")),
		open(filepath.Join(private, "removed")),
		func() error { return os.Remove(filepath.Join(private, "removed")) },
		roleWait,
	)
}

// roleChroot has a root directory of its own.
func roleChroot() error {
	return inTurn(func() error { return syscall.Chroot(os.Getenv(elsewhereKey)) }, roleWait)
}

// mountHiding gives this process a /tmp of its own, with a proc file system in it for each hidepid mode.
func mountHiding(modes ...string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", "/tmp", "tmpfs", 0, "mode=755"); err != nil {
		return err
	}
	for _, mode := range modes {
		dir := "/tmp/" + mode
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		if err := unix.Mount("proc", dir, "proc", 0, "hidepid="+mode); err != nil {
			return err
		}
	}
	return nil
}

// sees reads a mounted proc file system and compares what it shows.
func sees(mode string, other int, hidden bool) error {
	table, err := mount("/tmp/"+mode).readTable(context.Background(), false)
	if err != nil {
		return fmt.Errorf("%s: %w", mode, err)
	}
	_, self := table.ByPID(os.Getpid())
	if _, seen := table.ByPID(other); !self || seen == hidden || table.Hidden() != hidden {
		return fmt.Errorf("%s: self %v, other %v, hidden %v", mode, self, seen, table.Hidden())
	}
	return nil
}

// roleHidepid looks, as nobody, for its parent, which is root's, in every kind of proc file system.
func roleHidepid() error {
	if err := inTurn(func() error { return mountHiding("off", "noaccess", "invisible", "ptraceable") }, becomeNobody); err != nil {
		return err
	}
	parent := os.Getppid()
	return inTurn(
		func() error { return sees("off", parent, false) },
		func() error { return sees("noaccess", parent, true) },
		func() error { return sees("invisible", parent, true) },
		func() error { return sees("ptraceable", parent, true) },
		roleWait,
	)
}

// roleDenied is process 1 of a pid namespace and nobody's, so that only a process that is listed but may not be read
// tells that some are hidden.
func roleDenied() error {
	if err := mountHiding("off", "noaccess"); err != nil {
		return err
	}
	if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return err
	}
	roots, end, err := sleeper()
	if err != nil {
		return err
	}
	return inTurn(
		becomeNobody,
		func() error { return sees("off", roots.ID.PID, false) },
		func() error { return sees("noaccess", roots.ID.PID, true) },
		roleWait,
		end,
	)
}

// inTurn runs the steps up to the first that fails.
func inTurn(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// roleOtherNamespace is in a pid namespace of its own, but /proc is its parent's. It sees itself, by its own numbers, and
// nobody else.
func roleOtherNamespace() error {
	alone, err := ReadTable(context.Background(), false)
	if self, ok := alone.ByPID(os.Getpid()); !errors.Is(err, ErrNamespace) || !ok || !self.Alive() || self.Parent != os.Getppid() || len(alone.list) != 1 {
		return fmt.Errorf("of itself it sees %+v, %t, among %d: %w", self, ok, len(alone.list), err)
	}
	for name, err := range map[string]error{
		"Take":    func() error { _, err := ReadTable(context.Background(), false); return err }(),
		"Inspect": func() error { _, err := Inspect(1); return err }(),
		"Open":    func() error { _, err := Open(ID{PID: 1, Birth: "x"}); return err }(),
	} {
		if err == nil || !strings.Contains(err.Error(), "another pid namespace") {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return roleWait()
}

// roleRecycle is process 1 of a pid namespace. It makes two processes share a pid, one after the other, and looks
// whether they are told apart.
func roleRecycle() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return err
	}
	first, end, err := sleeper()
	if err != nil {
		return err
	}
	if err := end(); err != nil {
		return err
	}
	for { // a pid used twice within one tick has no second identity, so the tick must pass
		last := []byte(strconv.Itoa(first.ID.PID - 1))
		if err := os.WriteFile("/proc/sys/kernel/ns_last_pid", last, 0); err != nil {
			return err
		}
		second, end, err := sleeper()
		if err != nil {
			return err
		}
		if second.ID.PID == first.ID.PID && second.Ticks != first.Ticks {
			return inTurn(func() error { return distinguished(first, second) }, end, roleWait)
		}
		if err := end(); err != nil {
			return err
		}
	}
}

func distinguished(first, second Process) error {
	table, err := ReadTable(context.Background(), false)
	if err != nil {
		return err
	}
	if _, ok := table.Find(first.ID); ok {
		return errors.New("the table takes the second process for the first")
	}
	if _, ok := table.Find(second.ID); !ok {
		return errors.New("the table does not find the second process")
	}
	if _, err := Open(first.ID); !errors.Is(err, ErrGone) {
		return fmt.Errorf("opening the first process: %w", err)
	}
	if _, err := first.Args(); !errors.Is(err, ErrGone) {
		return fmt.Errorf("arguments of the first process: %w", err)
	}
	_, err = second.Args()
	return err
}

// sleeper starts a process that lives until end is called.
func sleeper() (p Process, end func() error, err error) {
	cmd := exec.Command("cat")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return p, nil, err
	}
	if err := cmd.Start(); err != nil {
		return p, nil, err
	}
	p, err = Inspect(cmd.Process.Pid)
	return p, func() error { return errors.Join(stdin.Close(), cmd.Wait()) }, err
}
