package fsread

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"strings"

	"golang.org/x/sys/unix"
)

// Sizes of the buffers that directories are read into, in bytes. Most directories are small, and a large buffer takes
// time to clear.
const (
	smallDirBuffer = 4 << 10
	largeDirBuffer = 64 << 10
)

// readEntries reads the directory with getdents(2) alone, into *room, which it may replace. [os.File] makes four more
// system calls to find out whether it can be polled, which for a thousand small directories is more than the reading.
func (d *Dir) readEntries(room *[]byte, yield func(DirEntry, error) bool) {
	if *room == nil {
		*room = make([]byte, smallDirBuffer)
	}
	for {
		buf := *room
		n, err := retry(func() (int, error) { return unix.Getdents(d.fd, buf) })
		if err != nil {
			yield(DirEntry{}, err)
			return
		}
		if n == 0 || !d.parseDirents(string(buf[:n]), yield) {
			return
		}
		if len(buf) == smallDirBuffer && n > smallDirBuffer/2 {
			*room = make([]byte, largeDirBuffer)
		}
	}
}

// parseDirents yields the entries of a block of struct linux_dirent64, getdents(2), and reports whether more are wanted.
// Their names are parts of the block.
func (d *Dir) parseDirents(block string, yield func(DirEntry, error) bool) (more bool) {
	const lengthAt, typeAt, nameAt = 16, 18, 19
	for len(block) > nameAt {
		length := int(binary.NativeEndian.Uint16([]byte(block[lengthAt:typeAt])))
		if length <= nameAt || length > len(block) {
			yield(DirEntry{}, unix.EIO)
			return false
		}
		name, _, _ := strings.Cut(block[nameAt:length], "\x00")
		kind := block[typeAt]
		block = block[length:]
		if name == "." || name == ".." {
			continue
		}
		mode, err := d.entryType(name, kind)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		if !yield(DirEntry{name, mode}, err) || err != nil {
			return false
		}
	}
	return true
}

// entryType translates an entry's type, and states the entry if its directory has no type.
func (d *Dir) entryType(name string, kind byte) (fs.FileMode, error) {
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
