package proc

import (
	"errors"

	"golang.org/x/sys/unix"
)

func (f *procfs) standing(p Process) (Credentials, error) {
	return ask(f, p, func(d pidDir) (Credentials, error) {
		s, err := d.status()
		if err != nil {
			return Credentials{}, err
		}
		if s.namespaced == nil { // a kernel without pid namespaces
			s.namespaced = []int{p.ID.PID}
		}
		return Credentials{UID: s.uid, PIDs: s.namespaced, Unshared: d.apart(pidDir(f.root + "/self/"))}, nil
	})
}

// apart are the namespaces that two processes do not share.
func (d pidDir) apart(self pidDir) (apart Namespaces) {
	for name, kind := range map[string]Namespaces{
		"ns/user": UserNamespace, "ns/pid": PIDNamespace, "ns/net": NetworkNamespace,
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
	if shared, err := d.sharesRoot(); err != nil || !shared {
		apart |= MountNamespace
	}
	return apart
}
