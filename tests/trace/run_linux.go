//go:build linux && (amd64 || arm64)

package trace

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// options: mark syscall stops, follow every child and thread, stop once more before the end (the memory can still
// be measured there), and leave nothing running if we die.
const options = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK |
	unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_TRACEEXIT | unix.PTRACE_O_EXITKILL

// Run starts the command, traces it and all it starts until the last of them has ended, and returns what they did.
// The command's Stdin, Stdout, Stderr, Env, Dir and context work as ever; a command that fails is no error.
func Run(cmd *exec.Cmd) (Result, error) { return Kill(cmd, func(Call) bool { return false }) }

// Kill is [Run], but at the first call for which judge says so it kills (SIGKILL) the command and all that it has started,
// before the call does anything. The call is shown as it is before it returns.
func Kill(cmd *exec.Cmd, judge func(Call) bool) (Result, error) {
	var r Result
	var err error
	onCleanThread(func() { r, err = run(cmd, judge) })
	return r, err
}

// Memory is [Run] for the exit status and the memory only: it does not stop at system calls, which takes most of the time of Run.
func Memory(cmd *exec.Cmd) (Result, error) { return Kill(cmd, nil) }

// onCleanThread calls f on a thread of its own that has no children. ptrace(2) speaks only to the thread that
// started the command; and wait(2) on a thread that started others before would reap those as well. A thread that
// has some is kept busy until f is done, so that the next try gets another one.
func onCleanThread(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT|unix.WALL|unix.WNOTHREAD, nil)
		if errors.Is(err, unix.ECHILD) {
			f()
			return
		}
		onCleanThread(f)
	}()
	<-done
}

func run(cmd *exec.Cmd, judge func(Call) bool) (Result, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Ptrace = true
	if err := cmd.Start(); err != nil {
		return Result{}, err
	}
	t := &tracer{leader: cmd.Process.Pid, specs: specs(), pending: map[int]*entry{}, known: map[int]bool{}, judge: judge}
	err := t.attach()
	if err == nil {
		err = t.loop()
	}
	if err != nil {
		_ = cmd.Process.Kill()
	}
	// The tracer has already reaped the process, so Wait says ECHILD; it is called for the output still being copied.
	if werr := cmd.Wait(); err == nil && werr != nil && !errors.Is(werr, unix.ECHILD) {
		err = werr
	}
	return t.result, err
}

// tracer is the state of one traced command.
type tracer struct {
	leader  int
	specs   map[uint64]spec
	pending map[int]*entry  // by thread: the call it is in
	known   map[int]bool    // threads whose first stop has been seen, and that have not ended
	judge   func(Call) bool // nil: calls are not traced
	killed  bool            // it has said so
	result  Result
}

// attach takes over the command, which stopped itself right after its exec.
func (t *tracer) attach() error {
	var status unix.WaitStatus
	if _, err := wait(t.leader, &status); err != nil {
		return err
	}
	if !status.Stopped() {
		return fmt.Errorf("the command ended before it could be traced: %#x", status)
	}
	t.known[t.leader] = true
	if err := unix.PtraceSetOptions(t.leader, options); err != nil {
		return fmt.Errorf("ptrace: %w", err)
	}
	return t.resume(t.leader, 0)
}

// resume continues a thread to its next system call; to its end if calls are not traced.
func (t *tracer) resume(pid, signal int) error {
	if t.judge == nil {
		return unix.PtraceCont(pid, signal)
	}
	return unix.PtraceSyscall(pid, signal)
}

// loop handles stops until no traced process is left.
func (t *tracer) loop() error {
	for {
		var status unix.WaitStatus
		pid, err := wait(-1, &status)
		if errors.Is(err, unix.ECHILD) {
			return nil
		}
		if err != nil {
			return err
		}
		if !status.Stopped() {
			t.ended(pid, status)
			continue
		}
		signal := t.stopped(pid, status)
		// A thread may be gone by now: killed with its process. Its end is reported by wait.
		if err := t.resume(pid, signal); err != nil && !errors.Is(err, unix.ESRCH) {
			return fmt.Errorf("ptrace: %w", err)
		}
	}
}

// wait reaps only children and tracees of this very thread: others belong to other tests.
func wait(pid int, status *unix.WaitStatus) (int, error) {
	for {
		got, err := unix.Wait4(pid, status, unix.WALL|unix.WNOTHREAD, nil)
		if !errors.Is(err, unix.EINTR) {
			return got, err
		}
	}
}

// stopped handles one stop and returns the signal to deliver with the restart.
func (t *tracer) stopped(pid int, status unix.WaitStatus) (signal int) {
	first := !t.known[pid]
	t.known[pid] = true
	if first && t.killed {
		_ = unix.Kill(pid, unix.SIGKILL) // it was just being born
	}
	switch sig := status.StopSignal(); {
	case sig == unix.SIGTRAP|0x80:
		t.syscall(pid)
		return 0
	case sig == unix.SIGTRAP:
		t.event(pid, status.TrapCause())
		return 0
	case sig == unix.SIGSTOP && first:
		return 0 // how a new child announces itself
	default:
		return int(sig)
	}
}

func (t *tracer) event(pid, cause int) {
	switch cause {
	case unix.PTRACE_EVENT_EXEC:
		// The thread that called exec goes on under its leader's id.
		if former, err := unix.PtraceGetEventMsg(pid); err == nil && int(former) != pid {
			t.pending[pid] = t.pending[int(former)]
			delete(t.pending, int(former))
		}
	case unix.PTRACE_EVENT_EXIT:
		t.result.PeakRSS = max(t.result.PeakRSS, peak(t.leader))
	}
}

func (t *tracer) syscall(pid int) {
	info, err := syscallInfo(pid)
	if err != nil {
		return
	}
	switch info.op {
	case opEntry:
		t.pending[pid] = t.enter(pid, info)
		t.kill(t.pending[pid].call)
	case opExit:
		if e := t.pending[pid]; e != nil {
			t.result.Calls = append(t.result.Calls, e.leave(info.ret()))
			delete(t.pending, pid)
		}
	}
}

// kill ends all threads, once, if the judge says so: all of them are there, since nobody else reaps them. Who dies in a call's
// entry does not make it.
func (t *tracer) kill(call Call) {
	if t.killed || !t.judge(call) {
		return
	}
	t.killed = true
	for known := range t.known {
		_ = unix.Kill(known, unix.SIGKILL)
	}
}

// ended records the call a thread died in, and the exit status of the command itself.
func (t *tracer) ended(pid int, status unix.WaitStatus) {
	delete(t.known, pid)
	if e := t.pending[pid]; e != nil {
		t.result.Calls = append(t.result.Calls, e.call)
		delete(t.pending, pid)
	}
	if pid != t.leader {
		return
	}
	t.result.Exit = status.ExitStatus()
	if status.Signaled() {
		t.result.Exit = 128 + int(status.Signal())
	}
}

// peak reads VmHWM. What wait4 reports instead includes the parent's memory from before the exec.
func peak(pid int) int64 {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(raw) {
		if v, ok := bytes.CutPrefix(line, []byte("VmHWM:")); ok {
			kb, _ := strconv.ParseInt(string(bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(v), []byte("kB")))), 10, 64)
			return kb << 10
		}
	}
	return 0
}

// PTRACE_GET_SYSCALL_INFO (Linux 5.3) is the same on every processor, unlike the registers.
const (
	getSyscallInfo = 0x420e
	opEntry        = 1
	opExit         = 2
)

// info is struct ptrace_syscall_info.
type info struct {
	op   uint8
	_    [3]uint8
	arch uint32
	ip   uint64
	sp   uint64
	nr   uint64 // at the exit: the result
	args [6]uint64
	_    [2]uint64
}

func (i info) ret() int64 { return int64(i.nr) }

func syscallInfo(pid int) (info, error) {
	var i info
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, getSyscallInfo, uintptr(pid), unsafe.Sizeof(i),
		uintptr(unsafe.Pointer(&i)), 0, 0)
	if errno != 0 {
		return i, errno
	}
	return i, nil
}

// peek copies up to n bytes of the thread's memory; fewer where its mapping ends.
func peek(pid int, addr uint64, n int) []byte {
	buf := make([]byte, n)
	local := []unix.Iovec{{Base: &buf[0]}}
	local[0].SetLen(n)
	got, err := unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: uintptr(addr), Len: n}}, 0)
	if err != nil {
		return nil
	}
	return buf[:got]
}

// str reads a C string, page by page so that it never asks beyond a mapping.
func str(pid int, addr uint64) string {
	const page, limit = 4096, 4096
	var out []byte
	for len(out) < limit {
		chunk := peek(pid, addr, page-int(addr%page))
		if head, _, ended := bytes.Cut(chunk, []byte{0}); ended {
			return string(append(out, head...))
		}
		if len(chunk) == 0 {
			break
		}
		out, addr = append(out, chunk...), addr+uint64(len(chunk))
	}
	return string(out)
}

// fdPath names the file behind a descriptor of the thread; "" for what is no file.
func fdPath(pid int, fd int32) string {
	link := fmt.Sprintf("/proc/%d/fd/%d", pid, fd)
	if fd == unix.AT_FDCWD {
		link = fmt.Sprintf("/proc/%d/cwd", pid)
	}
	path, err := os.Readlink(link)
	if err != nil || !filepath.IsAbs(path) {
		return ""
	}
	return path
}

// resolve makes a path argument absolute as the thread would. An empty one means the descriptor itself.
func resolve(pid int, dirfd int32, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(fdPath(pid, dirfd), path)
}
