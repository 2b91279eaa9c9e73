package proc

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Calls and flavours of proc_info (XNU bsd/sys/proc_info.h and proc_info_private.h).
const (
	callPIDInfo   = 2
	callPIDFDInfo = 3

	flavorFDs       = 1  // PROC_PIDLISTFDS
	flavorTask      = 4  // PROC_PIDTASKINFO
	flavorCwd       = 9  // PROC_PIDVNODEPATHINFO
	flavorPath      = 11 // PROC_PIDPATHINFO
	flavorFDFile    = 2  // PROC_PIDFDVNODEPATHINFO
	flavorFDSocket  = 3  // PROC_PIDFDSOCKETINFO
	pathInfoMaxSize = 4 * pathMax
)

// sysProcInfo is the number of the system call (XNU bsd/kern/syscalls.master). Wrappers of libproc need cgo.
const sysProcInfo = 336

// procInfo makes the system call behind libproc; it returns the part of buf that was filled.
func procInfo(call, pid, flavor, arg int, buf []byte) ([]byte, error) {
	n, _, errno := syscall.Syscall6(sysProcInfo, uintptr(call), uintptr(pid), uintptr(flavor), uintptr(arg),
		uintptr(unsafe.Pointer(unsafe.SliceData(buf))), uintptr(len(buf)))
	if errno != 0 {
		return nil, errno
	}
	return buf[:min(int(n), len(buf))], nil
}

func pidPath(pid int) (string, error) {
	buf := make([]byte, pathInfoMaxSize)
	if _, err := procInfo(callPIDInfo, pid, flavorPath, 0, buf); err != nil {
		return "", err
	}
	return cString(buf), nil // the call returns no length
}

func cwd(pid int) (string, error) {
	raw, err := procInfo(callPIDInfo, pid, flavorCwd, 0, make([]byte, cwdSize))
	if err != nil {
		return "", fmt.Errorf("working directory of process %d: %w", pid, err)
	}
	return parseCwd(raw)
}

// descriptors repeats the call with a larger buffer until the buffer has room to spare.
func descriptors(pid int) ([]fd, error) {
	for size := 256 * fdSize; ; size *= 2 {
		raw, err := procInfo(callPIDInfo, pid, flavorFDs, 0, make([]byte, size))
		if err != nil {
			return nil, fmt.Errorf("descriptors of process %d: %w", pid, err)
		}
		if len(raw) < size {
			return parseFDs(raw), nil
		}
	}
}

func readProcargs(pid int) (procargs, error) {
	raw, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil {
		return procargs{}, fmt.Errorf("arguments of process %d: %w", pid, err)
	}
	return parseProcargs(raw)
}
