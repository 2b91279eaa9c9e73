package native

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Dir is an open directory. Its entries are listed and stated relative to it, so that a rename of a parent
// meanwhile cannot mix two trees.
type Dir struct {
	path string
	file *os.File
}

// Info is what a directory tells of one of its files.
type Info struct {
	Size    int64 // bytes
	ModTime time.Time
}

// OpenDir opens a directory; links are followed, since people do link ~/.claude elsewhere.
func OpenDir(path string) (*Dir, error) {
	fd, err := retry(func() (int, error) {
		return unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_DIRECTORY|unix.O_NONBLOCK, 0)
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return &Dir{path: path, file: os.NewFile(uintptr(fd), path)}, nil
}

// Path is the path it was opened by.
func (d *Dir) Path() string { return d.path }

// Close closes the directory.
func (d *Dir) Close() error { return d.file.Close() }

// Names returns all entries in directory order; Type tells files from folders without a stat, except on file
// systems that do not say (then it is asked for).
func (d *Dir) Names() ([]fs.DirEntry, error) { return d.file.ReadDir(-1) }

// Stat states a regular file of the directory; anything else is [ErrNotRegular].
func (d *Dir) Stat(name string) (Info, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(int(d.file.Fd()), name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return Info{}, &fs.PathError{Op: "stat", Path: d.path + "/" + name, Err: err}
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG {
		return Info{}, &fs.PathError{Op: "stat", Path: d.path + "/" + name, Err: ErrNotRegular}
	}
	return Info{Size: st.Size, ModTime: modTime(&st)}, nil
}

// Absent reports whether err says that there is nothing of that name, which is no fault of a store: agents make
// their folders when they need them, and files vanish while one looks.
func Absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist)
}
