package proc

import (
	"testing"

	"golang.org/x/sys/unix"
)

// TestCredentials compares the namespaces of a process with ours, and reads its user even if the process is not dumpable.
func TestCredentials(t *testing.T) {
	needRoot(t)
	for name, test := range map[string]struct {
		role  string
		flags uintptr
		uid   int
		apart Namespaces
	}{
		"ours":                 {"wait", 0, 0, 0},
		"mounts of its own":    {"wait", unix.CLONE_NEWNS, 0, MountNamespace},
		"a network of its own": {"wait", unix.CLONE_NEWNET, 0, NetworkNamespace},
		"pids of its own":      {"wait", unix.CLONE_NEWPID, 0, PIDNamespace},
		"another user, hiding": {"hiding", 0, 65534, 0},
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t, test.role, flags(test.flags))
			p := inspect(t, c.Process.Pid)
			s, err := p.Credentials()
			if err != nil || s.UID != test.uid || s.Unshared != test.apart {
				t.Errorf("user %d, apart %b, %v; want %d, %b", s.UID, s.Unshared, err, test.uid, test.apart)
			}
		})
	}
}
