package proc

import (
	"bytes"
	"encoding/binary"
	"slices"

	"golang.org/x/sys/unix"
)

// numbers lists the names in an open directory that are decimal numbers, ascending. It spares the string that a
// general directory reader makes of each name.
func numbers(fd int) ([]int, error) {
	var list []int
	buf := make([]byte, 32<<10)
	for {
		n, err := retry(func() (int, error) { return unix.Getdents(fd, buf) })
		if err != nil {
			return nil, err
		}
		if n == 0 {
			slices.Sort(list)
			return list, nil
		}
		list = appendNumbers(list, buf[:n])
	}
}

// appendNumbers appends the numeric names in a block of struct linux_dirent64, getdents(2).
func appendNumbers(list []int, block []byte) []int {
	const lengthAt, nameAt = 16, 19
	for len(block) > nameAt {
		length := int(binary.NativeEndian.Uint16(block[lengthAt:]))
		if length <= nameAt || length > len(block) {
			break
		}
		name, _, _ := bytes.Cut(block[nameAt:length], []byte{0})
		if n, ok := number(name); ok {
			list = append(list, n)
		}
		block = block[length:]
	}
	return list
}

// number reads a decimal number of at most nine digits, which the kernel's pids and descriptors have at most
// (pid_max is at most 4,194,304; fs.nr_open at most 2,147,483,584, but no table of that size fits in memory).
func number(name []byte) (int, bool) {
	if len(name) == 0 || len(name) > 9 {
		return 0, false
	}
	n := 0
	for _, c := range name {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}
