package proc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// procfs is a mounted proc(5) file system.
type procfs struct {
	root string
	// Both are read once: a procfs lives as long as one table.
	boot func() (bootInfo, error)
	own  func() map[string]link
}

// link is the target of a link of our own directory of /proc.
type link struct {
	target string
	err    error
}

// bootInfo is what all processes of one boot have in common.
type bootInfo struct {
	// id is the boot id, "" in a sandbox whose /proc does not have it.
	id string
	// time is the wall clock at tick 0, in whole seconds; zero where /proc/stat is hidden (subset=pid).
	time time.Time
	// exactTime is the same by the clocks of this moment.
	exactTime time.Time
}

func mount(root string) *procfs {
	return &procfs{root: root, boot: sync.OnceValues(func() (bootInfo, error) {
		if err := checkNamespace(root); err != nil {
			return bootInfo{}, err
		}
		return readBootInfo(root)
	}), own: sync.OnceValue(func() map[string]link {
		own := map[string]link{}
		for _, name := range []string{"root", "ns/mnt", "ns/user", "ns/pid", "ns/net"} {
			target, err := pidDir(root + "/self/").readlink(name)
			own[name] = link{target, err}
		}
		return own
	})}
}

// systemRoot is the mount point of the system's own proc file system.
const systemRoot = "/proc"

// System returns what answers for the processes of this system.
func System() Backend { return mount(systemRoot) }

func readBootInfo(root string) (bootInfo, error) {
	boot, err := readOptional(root, "sys/kernel/random/boot_id")
	if err != nil {
		return bootInfo{}, err
	}
	stat, err := readOptional(root, "stat")
	if err != nil {
		return bootInfo{}, err
	}
	booted, err := parseBootTime(stat)
	return bootInfo{id: strings.TrimSpace(string(boot)), time: booted, exactTime: exactBootTime()}, err
}

// BootTime returns when the machine has started, in UTC. In a container that is the host.
func BootTime() (time.Time, error) {
	boot, err := readBootInfo(systemRoot)
	return boot.time, err
}

// exactBootTime returns the wall-clock time of tick 0, computed from the present clocks.
func exactBootTime() time.Time {
	began := time.Now()
	var since unix.Timespec // boot, suspension included, as the ticks are counted
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &since); err != nil {
		return time.Time{}
	}
	return began.Add(-time.Duration(since.Nano())).UTC().Round(0)
}

// checkNamespace returns ErrNamespace if the proc file system is that of another pid namespace than ours.
func checkNamespace(root string) error {
	self, err := os.Readlink(filepath.Join(root, "self"))
	if err != nil {
		return fmt.Errorf("reading the process table: %w", err)
	}
	if self != strconv.Itoa(os.Getpid()) {
		return fmt.Errorf("%w: in %s we are %q, and %d here", ErrNamespace, root, self, os.Getpid())
	}
	return nil
}

// readOptional reads a file of the proc file system; nil if it does not exist.
func readOptional(root, name string) ([]byte, error) {
	raw, err := pidDir(root + "/").read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return raw, err
}

// parseBootTime finds the time of boot in /proc/stat, zero if it is not there. Unlike a difference of clocks it is the
// same in every reading: the kernel truncates it to whole seconds.
func parseBootTime(stat []byte) (time.Time, error) {
	for line := range bytes.Lines(stat) {
		if s, ok := bytes.CutPrefix(line, []byte("btime ")); ok {
			n, err := strconv.ParseInt(string(bytes.TrimSpace(s)), 10, 64)
			if err != nil {
				return time.Time{}, fmt.Errorf("/proc/stat: btime: %w", err)
			}
			return time.Unix(n, 0).UTC(), nil
		}
	}
	return time.Time{}, nil
}

// pidDir is the path of a directory /proc/PID.
//
// The kernel reuses a pid only after the process was reaped. So everything that is read by path between two moments at
// which the pid had the same birth belongs to one process; comparing the birth is enough to know.
type pidDir string

func (f *procfs) pid(pid int) pidDir { return pidDir(f.root + "/" + strconv.Itoa(pid) + "/") }

func pathError(op, path string, err error) error { return &fs.PathError{Op: op, Path: path, Err: err} }

// open opens a file or directory for reading; the caller closes it. [os.Open] would make five more system calls to find
// out whether reads of the file can block.
func (d pidDir) open(name string) (*os.File, error) {
	fd, err := d.openDescriptor(name)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), string(d)+name), nil
}

func (d pidDir) openDescriptor(name string) (int, error) {
	fd, err := unix.Open(string(d)+name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, pathError("open", string(d)+name, err)
	}
	return fd, nil
}

// maxArguments is the most bytes that are read of a command line or an environment. Linux allows 6 MiB for both together
// (execve(2)). What is longer is not what the process was started with.
const maxArguments = 6 << 20

// read reads a file, at most [maxArguments] bytes.
func (d pidDir) read(name string) ([]byte, error) {
	f, err := d.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var content bytes.Buffer
	content.Grow(8 << 10) // most environments in one piece
	_, err = content.ReadFrom(io.LimitReader(f, maxArguments))
	return content.Bytes(), err
}

// readStart reads the start of a file into buf, and returns it; nothing if that may not be read. The kernel gives command lines and
// environments in one piece.
func (d pidDir) readStart(name string, buf []byte) []byte {
	fd, err := d.openDescriptor(name)
	if err != nil {
		return nil
	}
	defer unix.Close(fd)
	n, _ := retry(func() (int, error) { return unix.Read(fd, buf) })
	return buf[:max(n, 0)]
}

// readlink reads a symbolic link.
func (d pidDir) readlink(name string) (string, error) { return os.Readlink(string(d) + name) }

// readTarget reads a link to a file without the suffix " (deleted)", by which the kernel marks a removed file. The name of a file that
// exists may end so, too.
func (d pidDir) readTarget(name string) (path string, deleted bool, err error) {
	link, err := d.readlink(name)
	path, deleted = strings.CutSuffix(link, " (deleted)")
	if deleted {
		file, err := identityOf(string(d) + name)
		if named, namedErr := identityOf(link); err == nil && namedErr == nil && file == named {
			return link, false, nil
		}
	}
	return path, deleted, err
}

// listNumbers returns the entries of a directory whose names are numbers, ascending: processes, threads, descriptors.
func (d pidDir) listNumbers(name string) ([]int, error) {
	dir, err := d.open(name)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var list []int
	for _, name := range names {
		if n, err := strconv.Atoi(name); err == nil {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list, nil
}

// retry repeats a system call as long as a signal interrupts it.
func retry(call func() (int, error)) (int, error) {
	for {
		if n, err := call(); !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// vanished reports whether err means that the process or its descriptor no longer exists: ENOENT for a path, ESRCH for an
// open file.
func vanished(err error) bool { return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ESRCH) }

// denied reports whether err means that access is not permitted.
func denied(err error) bool { return errors.Is(err, fs.ErrPermission) }

// sharesRoot: see [Process.SharesRoot].
func (f *procfs) SharesRoot(p Process) (bool, error) {
	return verified(f, p, f.hasOwnRoot)
}

func (f *procfs) hasOwnRoot(d pidDir) (bool, error) {
	for _, name := range []string{"ns/mnt", "root"} {
		theirs, err := d.readlink(name)
		if err != nil {
			return false, err
		}
		ours := f.own()[name]
		if ours.err != nil || theirs != ours.target {
			return false, ours.err
		}
	}
	return true, nil
}

// samePath compares the files that a path names for the process and here, unless the process shares our root.
func (f *procfs) SamePath(p Process, path string) (bool, error) {
	return verified(f, p, func(d pidDir) (bool, error) {
		if shared, err := f.hasOwnRoot(d); shared || err != nil {
			return shared, err
		}
		theirs, err := d.identity(path)
		if err != nil {
			return false, ignoreMissing(err)
		}
		ours, err := identityOf(path)
		return err == nil && theirs == ours, ignoreMissing(err)
	})
}

// ignoreMissing returns nil for an error that says that a file does not exist, else err.
func ignoreMissing(err error) error {
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
		return nil
	}
	return err
}

// fileID identifies a file on this machine, whatever the bind mount or mount namespace.
type fileID struct{ device, inode uint64 }

// identityOf follows symbolic links, those of /proc included. It opens nothing.
func identityOf(path string) (fileID, error) {
	var s unix.Stat_t
	if err := unix.Stat(path, &s); err != nil {
		return fileID{}, pathError("stat", path, err)
	}
	return fileID{uint64(s.Dev), s.Ino}, nil
}

// identity identifies the file that an absolute path names for the process. Absolute symbolic links on the way start at
// its root directory, not at ours; that needs openat2(2) (Linux 5.6).
func (d pidDir) identity(path string) (fileID, error) {
	root, err := unix.Open(string(d)+"root", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fileID{}, pathError("open", string(d)+"root", err)
	}
	defer unix.Close(root)
	fd, err := unix.Openat2(root, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS})
	if err != nil {
		return fileID{}, pathError("open", string(d)+"root"+path, err)
	}
	defer unix.Close(fd)
	var s unix.Stat_t
	if err := unix.Fstat(fd, &s); err != nil {
		return fileID{}, pathError("stat", string(d)+"root"+path, err)
	}
	return fileID{uint64(s.Dev), s.Ino}, nil
}

// pathDiffers reports whether path, which was read from a link of the process, names another file here, or none. The
// kernel writes such a path as the mount namespace of the process has it. The name of a removed file leads nowhere; for
// it, and where the path may not be looked up, sharing our root decides.
func (f *procfs) pathDiffers(d pidDir, name, path string, deleted bool) bool {
	if !deleted {
		file, err := identityOf(string(d) + name)
		named, errNamed := identityOf(path)
		switch {
		case err != nil:
			return false // it was closed; the caller reads the link again and notices
		case errNamed == nil:
			return file != named
		case ignoreMissing(errNamed) == nil:
			return true
		}
	}
	shared, err := f.hasOwnRoot(d)
	return err == nil && !shared
}
