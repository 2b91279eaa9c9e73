package proc

import (
	"errors"

	"golang.org/x/sys/unix"
)

func (f *procfs) standing(p Process) (Standing, error) {
	return ask(f, p, func(d pidDir) (Standing, error) {
		s, err := d.status(make([]byte, bufferSize))
		if err != nil {
			return Standing{}, err
		}
		return Standing{UID: s.uid, Apart: d.apart(pidDir(f.root + "/self/"))}, nil
	})
}

// apart are the namespaces that two processes do not share.
func (d pidDir) apart(self pidDir) (apart Namespaces) {
	for name, kind := range map[string]Namespaces{
		"ns/user": UserNamespace, "ns/pid": ProcessNamespace, "ns/mnt": MountNamespace, "ns/net": NetworkNamespace,
	} {
		own, err := self.link(name)
		if errors.Is(err, unix.ENOENT) {
			continue // a kernel without this kind
		}
		theirs, theirErr := d.link(name)
		if err != nil || theirErr != nil || own != theirs {
			apart |= kind
		}
	}
	if !sameFile(string(d)+"root", string(self)+"root") {
		apart |= MountNamespace
	}
	return apart
}

// sameFile reports whether two paths are known to lead to one file.
func sameFile(a, b string) bool {
	var x, y unix.Stat_t
	return unix.Stat(a, &x) == nil && unix.Stat(b, &y) == nil && x.Dev == y.Dev && x.Ino == y.Ino
}
