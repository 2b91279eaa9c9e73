package proc

import (
	"os"
	"slices"
)

// FakeProcess is one process of a table for tests, with the facts that its methods return.
type FakeProcess struct {
	Process
	Arguments  []string
	WorkingDir string
	Environ    map[string]string
	Files      []OpenFile
	Ports      []int
	NSPIDs     []int
	// TTYPath is the controlling terminal, if TTYDevice is set.
	TTYPath string
	// OtherRoot: it has a mount namespace of its own, in which only SharedPaths mean the same as here.
	OtherRoot   bool
	SharedPaths []string
	// Unshared are the other namespaces that it does not share with us.
	Unshared      Namespaces
	ResourceUsage Usage
	// PeerPID is the pid of a real process that has the other ends of connections in its place; see [Process.VerifyPeer].
	PeerPID int
	// Err is returned by every method, as for a process of another user.
	Err error
}

// NewFakeTable returns a table of these processes, for tests. Their methods answer from memory.
func NewFakeTable(facts ...FakeProcess) *Table {
	list := make([]Process, 0, len(facts))
	for _, f := range facts {
		p := f.Process
		p.impl = f
		if len(f.Arguments) > 0 {
			p.arg0 = f.Arguments[0]
		}
		list = append(list, p)
	}
	t := newTable(list)
	t.locks = func() (locks []fileLock) {
		for _, f := range facts {
			for _, o := range f.Files {
				info, err := os.Stat(o.Path)
				if err != nil || !o.WriteLocked && !o.ReadLocked {
					continue
				}
				if inode, ok := inodeOf(info); ok {
					locks = append(locks, fileLock{f.ID.PID, inode})
				}
			}
		}
		return locks
	}
	return t
}

// WithFakeErr sets what [Table.Err] returns.
func (t *Table) WithFakeErr(err error) *Table {
	t.err = err
	return t
}

func (f FakeProcess) args(Process) ([]string, error) { return f.Arguments, f.Err }

func (f FakeProcess) cwd(p Process) (string, error) {
	if same, err := f.samePath(p, f.WorkingDir); err == nil && !same {
		return "", ErrPathDiffers
	}
	return f.WorkingDir, f.Err
}

func (f FakeProcess) env(_ Process, keys []string) (map[string]string, error) {
	out := map[string]string{}
	for _, k := range keys {
		if v, ok := f.Environ[k]; ok {
			out[k] = v
		}
	}
	return out, f.Err
}

func (f FakeProcess) openFiles(_ Process, match func(string) bool) ([]OpenFile, error) {
	var out []OpenFile
	for _, o := range f.Files {
		if match(o.Path) {
			out = append(out, o)
		}
	}
	return out, f.Err
}

func (f FakeProcess) listenPorts(Process) ([]int, error) { return f.Ports, f.Err }

func (f FakeProcess) tty(Process) (string, error) {
	if f.OtherRoot {
		return "", ErrPathDiffers
	}
	return f.TTYPath, f.Err
}

func (f FakeProcess) sharesRoot(Process) (bool, error) { return !f.OtherRoot, f.Err }

func (f FakeProcess) samePath(_ Process, path string) (bool, error) {
	return !f.OtherRoot || slices.Contains(f.SharedPaths, path), f.Err
}

func (f FakeProcess) credentials(p Process) (Credentials, error) {
	s := Credentials{p.UID, f.NSPIDs, f.Unshared}
	if f.NSPIDs == nil {
		s.PIDs = []int{p.ID.PID}
	}
	if f.OtherRoot {
		s.Unshared |= MountNamespace
	}
	if len(f.NSPIDs) > 1 {
		s.Unshared |= PIDNamespace
	}
	return s, f.Err
}

func (f FakeProcess) usage(Process) (Usage, error) {
	if f.Err != nil {
		return Usage{}, f.Err
	}
	return f.ResourceUsage, nil
}

func (f FakeProcess) peer(_ Process, c connection) (peer, error) {
	real, err := Inspect(f.PeerPID)
	if err != nil {
		return peerPending, err
	}
	return real.backend().peer(real, c)
}
