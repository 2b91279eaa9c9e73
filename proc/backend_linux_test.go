package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"agentctl/tests/must"
)

func TestArgsAndCwd(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	args := []string{"me", "-p", "two words", "", "line\nbreak", "\xff"}
	c := start(t, "wait", func(c *exec.Cmd) { c.Args, c.Dir = args, dir })
	p := inspect(t, c.Process.Pid)
	if got, err := p.Args(); err != nil || !slices.Equal(got, args) {
		t.Errorf("arguments %q, %v", got, err)
	}
	if got, err := p.Cwd(); err != nil || got != dir {
		t.Errorf("directory %q, %v", got, err)
	}
	must.Do(t, os.Remove(dir))
	if got, err := p.Cwd(); err != nil || got != dir {
		t.Errorf("removed directory %q, %v", got, err)
	}
}

func TestEnvKeepsNamedKeysOnly(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	c := start(t, "wait", func(c *exec.Cmd) {
		c.Env = append([]string{"A=first", "EMPTY=", "LONG=" + long, "WITH=a=b"}, c.Env...)
		c.Env = append(c.Env, "SECRET=s3cret", "AA=no")
	})
	got, err := inspect(t, c.Process.Pid).Env("A", "EMPTY", "LONG", "WITH", "NONE")
	want := map[string]string{"A": "first", "EMPTY": "", "LONG": long, "WITH": "a=b"}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%d variables, %v", len(got), err)
	}
}

func TestOpenFiles(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	want := map[string]OpenFile{}
	hold := func(name string, flags int, offset int64, prepare ...func(*os.File) error) {
		t.Helper()
		path := filepath.Join(dir, name)
		f, err := os.OpenFile(path, flags|os.O_CREATE, 0o600)
		must.Do(t, err)
		t.Cleanup(func() { f.Close() })
		for _, prepare := range prepare {
			must.Do(t, prepare(f))
		}
		want[name] = OpenFile{FD: int(f.Fd()), Path: path, Offset: offset, Writable: flags != os.O_RDONLY}
	}
	write := func(f *os.File) error { _, err := f.WriteString("0123456789"); return err }
	lock := func(how int) func(*os.File) error {
		return func(f *os.File) error { return unix.Flock(int(f.Fd()), how) }
	}
	hold("read", os.O_RDONLY, 0)
	hold("written", os.O_WRONLY, 10, write)
	hold("log", os.O_RDWR|os.O_APPEND, 10, write)
	hold("sought", os.O_RDWR, 4, write, func(f *os.File) error { _, err := f.Seek(4, 0); return err })
	hold("shared", os.O_RDONLY, 0, lock(unix.LOCK_SH))
	hold("locked", os.O_RDWR, 0, lock(unix.LOCK_EX))
	hold("removed", os.O_RDWR, 0, func(f *os.File) error { return os.Remove(f.Name()) })
	modify := func(name string, change func(*OpenFile)) { o := want[name]; change(&o); want[name] = o }
	modify("shared", func(o *OpenFile) { o.ReadLocked = true })
	modify("locked", func(o *OpenFile) { o.WriteLocked = true })
	modify("removed", func(o *OpenFile) { o.Deleted = true })

	files, err := inspect(t, os.Getpid()).OpenFiles(func(path string) bool { return strings.HasPrefix(path, dir+"/") })
	if err != nil || len(files) != len(want) {
		t.Fatalf("%d files, want %d, %v", len(files), len(want), err)
	}
	for _, got := range files {
		if got.Proc == "" {
			t.Errorf("%s: no path through the process", got.Path)
		}
		var through, direct unix.Stat_t
		if unix.Stat(got.Proc, &through) != nil || unix.Fstat(got.FD, &direct) != nil || through.Ino != direct.Ino {
			t.Errorf("%s leads to another file", got.Proc)
		}
		got.Proc = ""
		if name := filepath.Base(got.Path); got != want[name] {
			t.Errorf("%s: got %+v, want %+v", name, got, want[name])
		}
	}
}

// TestReusedDescriptor: the offset of one file is not returned for another file that reuses its descriptor.
func TestReusedDescriptor(t *testing.T) {
	first, err := os.Create(filepath.Join(t.TempDir(), "first"))
	must.Do(t, err)
	defer first.Close()
	second, err := os.Create(filepath.Join(t.TempDir(), "second"))
	must.Do(t, err)
	defer second.Close()
	files, err := inspect(t, os.Getpid()).OpenFiles(func(path string) bool {
		if filepath.Base(path) != "first" {
			return false
		}
		if err := unix.Dup3(int(second.Fd()), int(first.Fd()), unix.O_CLOEXEC); err != nil {
			t.Error(err)
		}
		return true
	})
	if err != nil || len(files) != 0 {
		t.Errorf("%+v, %v", files, err)
	}
}

// TestAnotherMountNamespace: a path may name another file in another mount namespace.
func TestAnotherMountNamespace(t *testing.T) {
	needRoot(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	private, shared := filepath.Join(dir, "private"), filepath.Join(dir, "shared")
	marked := filepath.Join(private, "called")
	for _, d := range []string{marked, shared} {
		must.Do(t, os.MkdirAll(d, 0o755))
	}
	for _, f := range []string{filepath.Join(private, "file"), filepath.Join(private, "link"), filepath.Join(private, "removed")} {
		must.Do(t, os.WriteFile(f, nil, 0o600))
	}
	c := start(t, "elsewhere", flags(unix.CLONE_NEWNS), func(c *exec.Cmd) { c.Env = append(c.Env, elsewhereKey+"="+dir) })
	p := inspect(t, c.Process.Pid)
	if got, err := p.Cwd(); !errors.Is(err, ErrPathDiffers) {
		t.Errorf("directory %q, %v", got, err)
	}
	files, err := p.OpenFiles(func(path string) bool { return strings.HasPrefix(path, dir) })
	must.Do(t, err)
	listed, _ := take(t).ByPID(c.Process.Pid)
	got := map[string][2]bool{}
	for _, f := range files {
		got[f.Path] = [2]bool{f.PathDiffers, f.Deleted}
	}
	if want := map[string][2]bool{
		filepath.Join(private, "file"): {true, false}, filepath.Join(marked, "file"): {true, false},
		filepath.Join(shared, "file"): {false, false}, filepath.Join(private, "removed"): {true, true},
	}; !maps.Equal(got, want) {
		t.Errorf("elsewhere and deleted: %v, want %v", got, want)
	}
	for path, want := range map[string]bool{
		shared: true, filepath.Join(shared, "file"): true, private: false, filepath.Join(private, "file"): false,
		filepath.Join(private, "link"): false, filepath.Join(dir, "none"): false,
	} {
		if same, err := p.SamePath(path); err != nil || same != want {
			t.Errorf("%s is the same: %t, %v", path, same, err)
		}
		if same, err := listed.SamePath(path); err != nil || same != want {
			t.Errorf("by the table, %s is the same: %t, %v", path, same, err)
		}
	}
	for _, own := range []Process{p, inspect(t, os.Getpid())} {
		if same, err := own.SharesRoot(); err != nil || same != (own.ID != p.ID) {
			t.Errorf("%v shares our root: %t, %v", own.ID, same, err)
		}
	}
}

// TestAnotherRoot: a process in our mount namespace may have another root directory.
func TestAnotherRoot(t *testing.T) {
	needRoot(t)
	dir := t.TempDir()
	c := start(t, "wait", func(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Chroot: "/proc/self/root"} })
	if shared, err := inspect(t, c.Process.Pid).SharesRoot(); err != nil || !shared {
		t.Errorf("our own root: %t, %v", shared, err)
	}
	chrooted := start(t, "chroot", func(c *exec.Cmd) { c.Env = append(c.Env, elsewhereKey+"="+dir) })
	p := inspect(t, chrooted.Process.Pid)
	if shared, err := p.SharesRoot(); err != nil || shared {
		t.Errorf("a root of its own: %t, %v", shared, err)
	}
	if same, err := p.SamePath("/proc"); err != nil || same {
		t.Errorf("its /proc is ours: %t, %v", same, err)
	}
}

// TestInheritedLock: a flock is found in the process that inherited it, after the process that took it has ended.
func TestInheritedLock(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "writer.lock"))
	must.Do(t, err)
	must.Do(t, unix.Flock(int(f.Fd()), unix.LOCK_EX))
	c := start(t, "wait", func(c *exec.Cmd) { c.ExtraFiles = []*os.File{f} })
	f.Close()
	files, err := inspect(t, c.Process.Pid).OpenFiles(func(path string) bool { return filepath.Base(path) == "writer.lock" })
	if err != nil || len(files) != 1 || !files[0].WriteLocked || files[0].FD != 3 {
		t.Errorf("%+v, %v", files, err)
	}
}

func TestListenPorts(t *testing.T) {
	var want []int
	for network, address := range map[string]string{"tcp4": "127.0.0.1:0", "tcp6": "[::1]:0"} {
		l, err := net.Listen(network, address)
		if network == "tcp6" && err != nil {
			t.Logf("no IPv6 here: %v", err)
			continue
		}
		must.Do(t, err)
		defer l.Close()
		client, err := net.Dial("tcp", l.Addr().String()) // its port must not be listed
		must.Do(t, err)
		defer client.Close()
		want = append(want, l.Addr().(*net.TCPAddr).Port)
	}
	slices.Sort(want)
	if got, err := inspect(t, os.Getpid()).ListenPorts(); err != nil || !slices.Equal(got, slices.Compact(want)) {
		t.Errorf("got %v, want %v, %v", got, want, err)
	}
	c := start(t, "wait")
	if got, err := inspect(t, c.Process.Pid).ListenPorts(); err != nil || len(got) != 0 {
		t.Errorf("of another process: %v, %v", got, err)
	}
}

func TestPIDNamespaces(t *testing.T) {
	needRoot(t)
	me := inspect(t, os.Getpid())
	if pids, err := me.NamespacePIDs(); err != nil || pids[0] != os.Getpid() {
		t.Errorf("this process: %v, %v", pids, err)
	}
	c := start(t, "wait", flags(unix.CLONE_NEWPID))
	p := inspect(t, c.Process.Pid)
	if pids, err := p.NamespacePIDs(); err != nil || !slices.Equal(pids, []int{c.Process.Pid, 1}) {
		t.Errorf("process 1 of another namespace: %v, %v", pids, err)
	}
}

func TestForeignProcFileSystemIsRefused(t *testing.T) {
	needRoot(t)
	start(t, "other-namespace", flags(unix.CLONE_NEWPID))
}

func TestProcessOfAnotherUser(t *testing.T) {
	needRoot(t)
	c := start(t, "nobody")
	p := inspect(t, c.Process.Pid)
	if p.UID != 65534 || p.Exe == "" {
		t.Errorf("%+v", p)
	}
}

func TestHiddenProcesses(t *testing.T) {
	needRoot(t)
	if take(t).Hidden() {
		t.Error("root sees all, but the table says that some are hidden")
	}
	start(t, "hidepid", flags(unix.CLONE_NEWNS))
	start(t, "denied", flags(unix.CLONE_NEWPID|unix.CLONE_NEWNS))
}

func TestRecycledPIDInTheKernel(t *testing.T) {
	needRoot(t)
	start(t, "recycle", flags(unix.CLONE_NEWPID|unix.CLONE_NEWNS))
}

// TestCredentials compares the namespaces of a process with ours, and reads its user even if the process is not dumpable.
func TestCredentials(t *testing.T) {
	needRoot(t)
	for name, test := range map[string]struct {
		role  string
		flags uintptr
		uid   int
		apart Namespaces
	}{
		"ours":                 {"wait", 0, 0, 0},
		"mounts of its own":    {"wait", unix.CLONE_NEWNS, 0, MountNamespace},
		"a network of its own": {"wait", unix.CLONE_NEWNET, 0, NetworkNamespace},
		"pids of its own":      {"wait", unix.CLONE_NEWPID, 0, PIDNamespace},
		"another user, hiding": {"hiding", 0, 65534, 0},
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t, test.role, flags(test.flags))
			p := inspect(t, c.Process.Pid)
			s, err := p.Credentials()
			if err != nil || s.UID != test.uid || s.Unshared != test.apart {
				t.Errorf("user %d, apart %b, %v; want %d, %b", s.UID, s.Unshared, err, test.uid, test.apart)
			}
		})
	}
}

// A process has the terminal that its session took, and none without one.
func TestTTY(t *testing.T) {
	master, slave, err := pty.Open()
	must.Do(t, err)
	defer master.Close()
	defer slave.Close()
	path := slave.Name()
	for want, attr := range map[string]*syscall.SysProcAttr{
		path: {Setsid: true, Setctty: true}, "": {Setsid: true},
	} {
		cmd := exec.Command("cat")
		cmd.SysProcAttr = attr
		cmd.Stdin, cmd.Stdout = slave, slave
		must.Do(t, cmd.Start())
		p, err := Inspect(cmd.Process.Pid)
		must.Do(t, err)
		if got, err := p.TTY(); err != nil || got != want {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
		if want != "" {
			p.TTYDevice = ttyDevice(143<<8 | 255) // a device that its path does not name: no machine has so many terminals
			if got, err := p.TTY(); !errors.Is(err, ErrPathDiffers) || got != "" {
				t.Errorf("of another device: %q, %v", got, err)
			}
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}

func TestTTYName(t *testing.T) {
	for device, want := range map[uint64]string{
		ttyDevice(136<<8 | 21): "/dev/pts/21", ttyDevice(137<<8 | 1): "/dev/pts/257", ttyDevice(136<<8 | 1<<20): "/dev/pts/256",
		ttyDevice(4<<8 | 1): "/dev/tty1", ttyDevice(4<<8 | 65): "/dev/ttyS1", ttyDevice(204<<8 | 64): "", ttyDevice(0): "",
	} {
		if got := ttyName(device); got != want {
			t.Errorf("%x: got %q, want %q", device, got, want)
		}
	}
}

const burnMemory = 64 << 20

// roleBurn has used processor time and memory, says how much time by the kernel's own account, and waits.
func roleBurn() error {
	held := make([]byte, burnMemory)
	var used time.Duration
	for used < 200*time.Millisecond {
		for i := range held {
			held[i]++
		}
		var own unix.Rusage
		if err := unix.Getrusage(unix.RUSAGE_SELF, &own); err != nil {
			return err
		}
		used = time.Duration(own.Utime.Nano() + own.Stime.Nano())
	}
	fmt.Println(used.Nanoseconds())
	err := roleWait()
	runtime.KeepAlive(held)
	return err
}

// TestUsageOfKnownBurn: the result is between what the child counted before and what the kernel counted at its end.
func TestUsageOfKnownBurn(t *testing.T) {
	c := start(t, "burn")
	said, err := strconv.ParseInt(c.said, 10, 64)
	must.Do(t, err)
	p := inspect(t, c.Process.Pid)
	got, err := p.Usage()
	must.Do(t, err)
	c.end(t)
	state := c.ProcessState
	atLeast, atMost := time.Duration(said)-2*time.Second/clockTicks, state.UserTime()+state.SystemTime() // each of two numbers is cut
	if got.CPU < atLeast || got.CPU > atMost {
		t.Errorf("%v of processor time, not in %v to %v", got.CPU, atLeast, atMost)
	}
	peak := state.SysUsage().(*syscall.Rusage).Maxrss << 10
	if got.Memory < burnMemory*7/8 || got.Memory > peak*9/8 { // the kernel's own counts differ a little
		t.Errorf("%d bytes of memory, not in %d to %d", got.Memory, burnMemory, peak)
	}
	if got, err := p.Usage(); !errors.Is(err, ErrGone) || got != (Usage{}) {
		t.Errorf("after its end: %+v, %v", got, err)
	}
}

// mounted makes a proc file system of these files. "self" is this process.
func mounted(t *testing.T, files map[string]string) *procfs {
	t.Helper()
	root := t.TempDir()
	must.Do(t, os.Symlink(strconv.Itoa(os.Getpid()), filepath.Join(root, "self")))
	for name, content := range files {
		path := filepath.Join(root, name)
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o600)))
	}
	return mount(root)
}

// TestUnreadableTableIsAnError: so is a process that cannot be parsed; the others are in the table.
func TestUnreadableTableIsAnError(t *testing.T) {
	if _, err := mount(filepath.Join(t.TempDir(), "none")).readTable(t.Context(), false); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no /proc at all: %v", err)
	}
	if table, err := mount(t.TempDir()).readTable(t.Context(), false); err == nil {
		t.Errorf("an empty directory where nothing is mounted: %d processes", table.Len())
	}
	table, err := mounted(t, map[string]string{
		"4045/stat": "4045 (claude) S 1", "4046/stat": statLine(stat{pid: 4046, name: "codex", state: 'S'}),
	}).readTable(t.Context(), false)
	must.Do(t, err)
	_, torn := table.ByPID(4045)
	_, whole := table.ByPID(4046)
	if torn || !whole || table.Err() == nil || !strings.Contains(table.Err().Error(), "4045/stat") {
		t.Errorf("a torn line: found %v, the other %v, %v", torn, whole, table.Err())
	}
}

// TestSandboxedTree: a /proc of processes alone, as mounted with subset=pid, still tells processes apart.
func TestSandboxedTree(t *testing.T) {
	table, err := mounted(t, map[string]string{
		"4045/stat": statLine(stat{pid: 4045, name: "claude", state: 'S', ticks: 199670}),
	}).readTable(t.Context(), false)
	must.Do(t, err)
	if p, _ := table.ByPID(4045); p.ID.Birth != "/199670" || !p.Started.IsZero() || table.Err() != nil {
		t.Errorf("%+v, %v", p, table.Err())
	}
}
