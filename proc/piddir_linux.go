package proc

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

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
	path := string(d) + name
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, pathError("open", path, err)
	}
	return os.NewFile(uintptr(fd), path), nil
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
	return readLimited(f)
}

// readLimited reads at most [maxArguments] bytes.
func readLimited(f *os.File) ([]byte, error) { return io.ReadAll(io.LimitReader(f, maxArguments)) }

// readlink reads a symbolic link.
func (d pidDir) readlink(name string) (string, error) { return os.Readlink(string(d) + name) }

// readTarget reads a link to a file without the suffix " (deleted)", by which the kernel marks a removed file.
func (d pidDir) readTarget(name string) (path string, deleted bool, err error) {
	link, err := d.readlink(name)
	path, deleted = strings.CutSuffix(link, " (deleted)")
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
