package proc

import (
	"errors"

	"golang.org/x/sys/unix"
)

func (f *procfs) credentials(p Process) (Credentials, error) {
	return verified(f, p, func(d pidDir) (Credentials, error) {
		s, err := d.status()
		if err != nil {
			return Credentials{}, err
		}
		if s.nsPIDs == nil { // a kernel without pid namespaces
			s.nsPIDs = []int{p.ID.PID}
		}
		return Credentials{UID: s.uid, PIDs: s.nsPIDs, Unshared: d.unshared(pidDir(f.root + "/self/"))}, nil
	})
}

// unshared returns the namespaces that two processes do not share.
func (d pidDir) unshared(self pidDir) (apart Namespaces) {
	for name, kind := range map[string]Namespaces{
		"ns/user": UserNamespace, "ns/pid": PIDNamespace, "ns/net": NetworkNamespace,
	} {
		own, err := self.readlink(name)
		if errors.Is(err, unix.ENOENT) {
			continue // a kernel without this kind
		}
		theirs, theirErr := d.readlink(name)
		if err != nil || theirErr != nil || own != theirs {
			apart |= kind
		}
	}
	if shared, err := d.sharesRoot(); err != nil || !shared {
		apart |= MountNamespace
	}
	return apart
}
