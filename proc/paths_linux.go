package proc

import (
	"errors"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// sharesRoot reports whether the process resolves absolute paths as we do: it is in our mount namespace and has our root
// directory. What such a process names by a path, we name by the same.
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

// samePath compares the files that a path names for the process and for us, where it does not share our root.
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

func ignoreMissing(err error) error {
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
		return nil
	}
	return err
}

// fileID is what identifies a file on one machine: bind mounts and mount namespaces have it in common.
type fileID struct{ device, inode uint64 }

// identityOf follows symbolic links, those of /proc too. It opens nothing.
func identityOf(path string) (fileID, error) {
	var s unix.Stat_t
	if err := unix.Stat(path, &s); err != nil {
		return fileID{}, pathError("stat", path, err)
	}
	return fileID{uint64(s.Dev), s.Ino}, nil //nolint:unconvert // the types differ between architectures
}

// identity is that of the file which the process names by an absolute path. Absolute symbolic links on the way begin at
// its root, not at ours, for which openat2(2) is needed (Linux 5.6).
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
	return fileID{uint64(s.Dev), s.Ino}, nil //nolint:unconvert // the types differ between architectures
}

// pathDiffers reports whether the path that a link of the process was read as names another file here, or none. The kernel
// writes it as the process's mount namespace has it. The name of a removed file leads nowhere, so that of those only the
// namespace tells; so it does where we may not look up the path.
func (d pidDir) pathDiffers(name, path string, deleted bool) bool {
	if !deleted {
		file, err := identityOf(string(d) + name)
		named, errNamed := identityOf(path)
		switch {
		case err != nil:
			return false // it has been closed: who reads the link again finds out
		case errNamed == nil:
			return file != named
		case ignoreMissing(errNamed) == nil:
			return true
		}
	}
	shared, err := d.sharesRoot()
	return err == nil && !shared
}
