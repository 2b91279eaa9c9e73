package proc

import (
	"errors"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// sharesRoot: see [Process.SharesRoot].
func (f *procfs) sharesRoot(p Process) (bool, error) {
	return verified(f, p, pidDir.sharesRoot)
}

func (d pidDir) sharesRoot() (bool, error) {
	self := pidDir(filepath.Join(string(d), "../self") + "/")
	for _, link := range []string{"ns/mnt", "root"} {
		theirs, err := d.readlink(link)
		if err != nil {
			return false, err
		}
		ours, err := self.readlink(link)
		if err != nil {
			return false, err
		}
		if theirs != ours {
			return false, nil
		}
	}
	return true, nil
}

// samePath compares the files that a path names for the process and here, unless the process shares our root.
func (f *procfs) samePath(p Process, path string) (bool, error) {
	return verified(f, p, func(d pidDir) (bool, error) {
		if shared, err := d.sharesRoot(); shared || err != nil {
			return shared, err
		}
		theirs, err := d.identity(path)
		if err != nil {
			return false, ignoreMissing(err)
		}
		ours, err := identityOf(path)
		return err == nil && theirs == ours, ignoreMissing(err)
	})
}

// ignoreMissing returns nil for an error that says that a file does not exist, else err.
func ignoreMissing(err error) error {
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
		return nil
	}
	return err
}

// fileID identifies a file on this machine, whatever the bind mount or mount namespace.
type fileID struct{ device, inode uint64 }

// identityOf follows symbolic links, those of /proc included. It opens nothing.
func identityOf(path string) (fileID, error) {
	var s unix.Stat_t
	if err := unix.Stat(path, &s); err != nil {
		return fileID{}, pathError("stat", path, err)
	}
	return fileID{uint64(s.Dev), s.Ino}, nil
}

// identity identifies the file that an absolute path names for the process. Absolute symbolic links on the way start at
// its root directory, not at ours; that needs openat2(2) (Linux 5.6).
func (d pidDir) identity(path string) (fileID, error) {
	root, err := unix.Open(string(d)+"root", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fileID{}, pathError("open", string(d)+"root", err)
	}
	defer unix.Close(root)
	fd, err := unix.Openat2(root, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS})
	if err != nil {
		return fileID{}, pathError("open", string(d)+"root"+path, err)
	}
	defer unix.Close(fd)
	var s unix.Stat_t
	if err := unix.Fstat(fd, &s); err != nil {
		return fileID{}, pathError("stat", string(d)+"root"+path, err)
	}
	return fileID{uint64(s.Dev), s.Ino}, nil
}

// pathDiffers reports whether path, which was read from a link of the process, names another file here, or none. The
// kernel writes such a path as the mount namespace of the process has it. The name of a removed file leads nowhere; for
// it, and where the path may not be looked up, sharing our root decides.
func (d pidDir) pathDiffers(name, path string, deleted bool) bool {
	if !deleted {
		file, err := identityOf(string(d) + name)
		named, errNamed := identityOf(path)
		switch {
		case err != nil:
			return false // it was closed; the caller reads the link again and notices
		case errNamed == nil:
			return file != named
		case ignoreMissing(errNamed) == nil:
			return true
		}
	}
	shared, err := d.sharesRoot()
	return err == nil && !shared
}
