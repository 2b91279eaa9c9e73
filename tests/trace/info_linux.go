//go:build linux && (amd64 || arm64)

package trace

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

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
