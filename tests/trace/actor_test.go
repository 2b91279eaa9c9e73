//go:build linux && (amd64 || arm64)

package trace_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"agentctl/tests/trace"
)

// action is something a traced process does in a folder of its own, and the one change it must be seen as.
type action struct {
	name   string
	do     func(dir string) error
	effect trace.Effect // "" means: no change
	path   string       // relative to the folder
}

// The folder holds "file" (5 bytes), "dir" and nothing else.
func actions() []action {
	open := func(dir, name string, flags int, then func(fd int) error) error {
		fd, err := unix.Open(filepath.Join(dir, name), flags, 0o600)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		return then(fd)
	}
	nothing := func(int) error { return nil }
	lock := func(typ int16) func(fd int) error {
		return func(fd int) error {
			return unix.FcntlFlock(uintptr(fd), unix.F_SETLK, &unix.Flock_t{Type: typ})
		}
	}
	mapped := func(prot, flags int) func(fd int) error {
		return func(fd int) error { _, err := unix.Mmap(fd, 0, 5, prot, flags); return err }
	}
	return []action{
		{"read", func(d string) error { _, err := os.ReadFile(d + "/file"); return err }, "", ""},
		{"list", func(d string) error { _, err := os.ReadDir(d); return err }, "", ""},
		{"open for writing only", func(d string) error { return open(d, "file", unix.O_RDWR|unix.O_CREAT, nothing) }, "", ""},
		{"shared lock", func(d string) error { return open(d, "file", unix.O_RDONLY, lock(unix.F_RDLCK)) }, "", ""},
		{"read-only mapping", func(d string) error {
			return open(d, "file", unix.O_RDONLY, mapped(unix.PROT_READ, unix.MAP_SHARED))
		}, "", ""},
		{"private mapping", func(d string) error {
			return open(d, "file", unix.O_RDONLY, mapped(unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE))
		}, "", ""},
		{"create", func(d string) error { return open(d, "new", unix.O_WRONLY|unix.O_CREAT, nothing) }, trace.Create, "new"},
		{"write", func(d string) error {
			return open(d, "file", unix.O_WRONLY, func(fd int) error { _, err := unix.Write(fd, []byte("x")); return err })
		}, trace.Write, "file"},
		{"pwrite", func(d string) error {
			return open(d, "file", unix.O_WRONLY, func(fd int) error { _, err := unix.Pwrite(fd, []byte("x"), 0); return err })
		}, trace.Write, "file"},
		{"truncate by open", func(d string) error { return open(d, "file", unix.O_WRONLY|unix.O_TRUNC, nothing) }, trace.Truncate, "file"},
		{"ftruncate", func(d string) error {
			return open(d, "file", unix.O_WRONLY, func(fd int) error { return unix.Ftruncate(fd, 9) })
		}, trace.Truncate, "file"},
		{"truncate", func(d string) error { return unix.Truncate(d+"/file", 9) }, trace.Truncate, "file"},
		{"rename", func(d string) error { return unix.Rename(d+"/file", d+"/other") }, trace.Rename, "file"},
		{"rename away", func(d string) error { return unix.Rename(d+"/file", d+"-away") }, trace.Rename, "file"},
		{"unlink", func(d string) error { return unix.Unlink(d + "/file") }, trace.Remove, "file"},
		{"rmdir", func(d string) error { return unix.Rmdir(d + "/dir") }, trace.Remove, "dir"},
		{"mkdir", func(d string) error { return unix.Mkdir(d+"/new", 0o700) }, trace.Create, "new"},
		{"link", func(d string) error { return unix.Link(d+"/file", d+"/new") }, trace.Create, "file"},
		{"symlink", func(d string) error { return unix.Symlink("file", d+"/new") }, trace.Create, "new"},
		{"mknod", func(d string) error { return unix.Mkfifo(d+"/new", 0o600) }, trace.Create, "new"},
		{"chmod", func(d string) error { return unix.Chmod(d+"/file", 0o644) }, trace.Attribute, "file"},
		{"fchmod", func(d string) error {
			return open(d, "file", unix.O_RDONLY, func(fd int) error { return unix.Fchmod(fd, 0o644) })
		}, trace.Attribute, "file"},
		{"chown", func(d string) error { return unix.Chown(d+"/file", -1, -1) }, trace.Attribute, "file"},
		{"times", func(d string) error { return unix.UtimesNano(d+"/file", make([]unix.Timespec, 2)) }, trace.Attribute, "file"},
		{"flock", func(d string) error {
			return open(d, "file", unix.O_RDONLY, func(fd int) error { return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) })
		}, trace.WriteLock, "file"},
		{"fcntl lock", func(d string) error { return open(d, "file", unix.O_RDWR, lock(unix.F_WRLCK)) }, trace.WriteLock, "file"},
		{"writable mapping", func(d string) error {
			return open(d, "file", unix.O_RDWR, mapped(unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED))
		}, trace.MapWrite, "file"},
		{"relative path", func(d string) error {
			if err := os.Chdir(d); err != nil {
				return err
			}
			return unix.Unlink("file")
		}, trace.Remove, "file"},
		{"directory descriptor", func(d string) error {
			return open(d, ".", unix.O_RDONLY|unix.O_DIRECTORY, func(fd int) error { return unix.Unlinkat(fd, "file", 0) })
		}, trace.Remove, "file"},
		{"failed attempt", func(d string) error { _ = unix.Unlink(d + "/missing"); return nil }, trace.Remove, "missing"},
		{"child process", func(d string) error { return exec.Command("/bin/sh", "-c", `: > "$0"`, d+"/new").Run() }, trace.Create, "new"},
		{"another thread", func(d string) error { return inThreads(8, func() error { return unix.Chmod(d+"/file", 0o600) }) }, trace.Attribute, "file"},
	}
}

// inThreads calls f in n threads at once, each its own.
func inThreads(n int, f func() error) error {
	var wg sync.WaitGroup
	errs := make([]error, n)
	var start sync.WaitGroup
	start.Add(n)
	for i := range n {
		wg.Go(func() {
			syscall.Getppid() // a call that blocks no one, so that the thread is one that was traced from birth
			start.Done()
			start.Wait()
			errs[i] = f()
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestMain lets the test binary be the process that is traced.
func TestMain(m *testing.M) {
	name, ok := os.LookupEnv("TRACE_ACTION")
	if !ok {
		os.Exit(m.Run())
	}
	for _, a := range actions() {
		if a.name == name {
			if err := a.do(os.Getenv("TRACE_DIR")); err != nil {
				fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	os.Exit(2)
}
