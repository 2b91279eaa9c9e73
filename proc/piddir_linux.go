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

// pidDir is the path of a /proc/PID.
//
// The kernel hands a pid out again only after its process was collected. So what is read by path between two moments
// at which the pid was one process's is all that process's, and it takes no more than a look at the birth to know.
type pidDir string

func (f *procfs) pid(pid int) pidDir { return pidDir(f.root + "/" + strconv.Itoa(pid) + "/") }

func pathError(op, path string, err error) error { return &fs.PathError{Op: op, Path: path, Err: err} }

// open opens a file or folder of the directory for reading; the caller closes it. [os.Open] would make five calls more, to find
// out whether it could wait for the file.
func (d pidDir) open(name string) (*os.File, error) {
	path := string(d) + name
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, pathError("open", path, err)
	}
	return os.NewFile(uintptr(fd), path), nil
}

// read reads a file of the directory, up to [maxArguments].
func (d pidDir) read(name string) ([]byte, error) {
	f, err := d.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readLimited(f)
}

func readLimited(f *os.File) ([]byte, error) { return io.ReadAll(io.LimitReader(f, maxArguments)) }

// readlink reads a symbolic link of the directory.
func (d pidDir) readlink(name string) (string, error) {
	var usual [256]byte // the longest one there can be would need a larger stack
	buf := usual[:]
	path := string(d) + name
	n, err := unix.Readlink(path, buf)
	if err == nil && n == len(buf) {
		buf = make([]byte, unix.PathMax)
		n, err = unix.Readlink(path, buf)
	}
	if err == nil && n == len(buf) {
		err = unix.ENAMETOOLONG
	}
	if err != nil {
		return "", pathError("readlink", path, err)
	}
	return string(buf[:n]), nil
}

// readTarget reads a link to a file and takes off the " (deleted)" that the kernel marks a removed one with. A file may
// really be called so: then that very file stands under the name as printed.
func (d pidDir) readTarget(name string) (path string, deleted bool, err error) {
	link, err := d.readlink(name)
	path, marked := strings.CutSuffix(link, " (deleted)")
	if err != nil || !marked {
		return link, false, err
	}
	var file unix.Stat_t
	if unix.Stat(string(d)+name, &file) != nil {
		return path, true, nil
	}
	for _, printed := range []string{link, string(d) + "root" + link} { // its root, for another mount namespace, as a container's
		var named unix.Stat_t
		err := unix.Lstat(printed, &named)
		if err == nil && named.Dev == file.Dev && named.Ino == file.Ino {
			return link, false, nil
		}
	}
	return path, true, nil
}

// listNumbers lists the entries of a directory whose name is a number, ascending: processes, threads, descriptors.
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

// retry repeats a system call that a signal interrupted.
func retry(call func() (int, error)) (int, error) {
	for {
		if n, err := call(); !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}

// vanished reports whether err says that the process, or its descriptor, is no more: ENOENT of a name, ESRCH of an open file.
func vanished(err error) bool { return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ESRCH) }

// denied reports whether err says that we may not know.
func denied(err error) bool { return errors.Is(err, fs.ErrPermission) }
