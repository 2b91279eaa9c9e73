package native

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"strings"

	"golang.org/x/sys/unix"
)

// readNames reads the directory with getdents(2) alone. os.File would ask four times more whether it can be polled,
// which for a thousand small folders is more than the reading.
func (d *Dir) readNames() ([]Name, error) {
	var names []Name
	const usual, large = 4 << 10, 64 << 10 // a thousand large ones would have to be cleared
	buf := make([]byte, usual)
	for {
		n, err := retry(func() (int, error) { return unix.Getdents(d.fd, buf) })
		if err != nil || n == 0 {
			return names, err
		}
		if names, err = d.appendNames(names, string(buf[:n])); err != nil {
			return names, err
		}
		if len(buf) == usual && n > usual/2 {
			buf = make([]byte, large)
		}
	}
}

// appendNames appends the entries of a block of struct linux_dirent64, getdents(2). Their names are parts of the
// block.
func (d *Dir) appendNames(names []Name, block string) ([]Name, error) {
	const lengthAt, typeAt, nameAt = 16, 18, 19
	for len(block) > nameAt {
		length := int(binary.NativeEndian.Uint16([]byte(block[lengthAt:typeAt])))
		if length <= nameAt || length > len(block) {
			return names, unix.EIO
		}
		name, _, _ := strings.Cut(block[nameAt:length], "\x00")
		kind := block[typeAt]
		block = block[length:]
		if name == "." || name == ".." {
			continue
		}
		mode, err := d.mode(name, kind)
		if errors.Is(err, fs.ErrNotExist) {
			continue // gone meanwhile
		}
		if err != nil {
			return names, err
		}
		names = append(names, Name{name, mode})
	}
	return names, nil
}

// mode translates the type that a directory says of an entry, and asks the entry itself where it says none.
func (d *Dir) mode(name string, kind byte) (fs.FileMode, error) {
	if kind == unix.DT_UNKNOWN {
		var st unix.Stat_t
		if err := unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return 0, err
		}
		kind = byte(st.Mode & unix.S_IFMT >> 12) // DT_ are the same numbers
	}
	switch kind {
	case unix.DT_REG:
		return 0, nil
	case unix.DT_DIR:
		return fs.ModeDir, nil
	case unix.DT_LNK:
		return fs.ModeSymlink, nil
	}
	return fs.ModeIrregular, nil
}
