package proc

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// procargs is the result of macOS's sysctl kern.procargs2: the number of arguments, the path given to execve(2), padding,
// the arguments, the environment, and after an empty string those that Apple adds (XNU bsd/kern/kern_sysctl.c).
type procargs struct {
	exec    string
	args    []string
	environ []byte // NUL-terminated strings; empty where the system withholds it, as for its own programs
}

// parseProcargs parses the result. The length of the padding is not in it, so leading empty arguments count as padding,
// and as many variables as arguments; no shell or agent starts a program with an empty name.
func parseProcargs(raw []byte) (procargs, error) {
	if len(raw) < 4 {
		return procargs{}, errors.New("no argument count in it")
	}
	count := int(int32(binary.LittleEndian.Uint32(raw)))
	exec, rest, ok := bytes.Cut(raw[4:], []byte{0})
	if !ok || count < 0 || count > len(rest) {
		return procargs{}, errors.New("torn arguments")
	}
	rest = bytes.TrimLeft(rest, "\x00")
	a := procargs{exec: string(exec)}
	for range count {
		arg, after, ok := bytes.Cut(rest, []byte{0})
		if !ok {
			return procargs{}, errors.New("torn arguments")
		}
		a.args, rest = append(a.args, string(arg)), after
	}
	end := bytes.Index(rest, []byte{0, 0})
	switch {
	case bytes.HasPrefix(rest, []byte{0}): // no environment
	case end < 0: // torn: the last one is not whole
		a.environ = rest[:bytes.LastIndexByte(rest, 0)+1]
	default:
		a.environ = rest[:end+1]
	}
	return a, nil
}
