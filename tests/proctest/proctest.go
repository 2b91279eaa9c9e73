// Package proctest makes process tables for tests.
package proctest

import (
	"os"
	"slices"
	"syscall"

	"agentctl/proc"
)

// Process is one process of a table, with the facts that its methods return.
type Process struct {
	proc.Process
	Arguments  []string
	WorkingDir string
	Environ    map[string]string
	Files      []proc.OpenFile
	Ports      []int
	NSPIDs     []int
	// TTYPath is the controlling terminal, if TTYDevice is set.
	TTYPath string
	// OtherRoot: it has a mount namespace of its own, in which only SharedPaths mean the same as here.
	OtherRoot   bool
	SharedPaths []string
	// Unshared are the other namespaces that it does not share with us.
	Unshared      proc.Namespaces
	ResourceUsage proc.Usage
	// PeerPID is the pid of a real process that has the other ends of connections in its place; see [proc.Process.Dial].
	PeerPID int
	Active  proc.Activity
	// Err is returned by every method, as for a process of another user.
	Err error
}

// NewTable returns a table of these processes. Their methods answer from memory.
func NewTable(processes ...Process) *proc.Table { return NewFailedTable(nil, processes...) }

// NewFailedTable is NewTable for a table that lacks processes because of err.
func NewFailedTable(err error, processes ...Process) *proc.Table {
	list := make([]proc.Process, 0, len(processes))
	for _, p := range processes {
		p.Backend = backend(p)
		if len(p.Arguments) > 0 {
			p.Arg0 = p.Arguments[0]
		}
		list = append(list, p.Process)
	}
	return proc.NewTable(list, func() (locks []proc.FileLock) {
		for _, p := range processes {
			for _, f := range p.Files {
				if info, err := os.Stat(f.Path); err == nil && (f.WriteLocked || f.ReadLocked) {
					locks = append(locks, proc.FileLock{PID: p.ID.PID, Inode: info.Sys().(*syscall.Stat_t).Ino})
				}
			}
		}
		return locks
	}, err)
}

// backend answers the methods of a process from memory.
type backend Process

func (b backend) Args(proc.Process) ([]string, error) { return b.Arguments, b.Err }

func (b backend) Cwd(p proc.Process) (string, error) {
	if same, err := b.SamePath(p, b.WorkingDir); err == nil && !same {
		return "", proc.ErrPathDiffers
	}
	return b.WorkingDir, b.Err
}

func (backend) MayHaveEnv(proc.Process, []string) bool { return true }

func (b backend) Env(_ proc.Process, keys []string) (map[string]string, error) {
	out := map[string]string{}
	for _, k := range keys {
		if v, ok := b.Environ[k]; ok {
			out[k] = v
		}
	}
	return out, b.Err
}

func (b backend) OpenFiles(_ proc.Process, match func(string) bool) ([]proc.OpenFile, error) {
	var out []proc.OpenFile
	for _, f := range b.Files {
		if match(f.Path) {
			out = append(out, f)
		}
	}
	return out, b.Err
}

func (b backend) ListenPorts(proc.Process) ([]int, error) { return b.Ports, b.Err }

func (b backend) TTY(proc.Process) (string, error) {
	if b.OtherRoot {
		return "", proc.ErrPathDiffers
	}
	return b.TTYPath, b.Err
}

func (b backend) SharesRoot(proc.Process) (bool, error) { return !b.OtherRoot, b.Err }

func (b backend) SamePath(_ proc.Process, path string) (bool, error) {
	return !b.OtherRoot || slices.Contains(b.SharedPaths, path), b.Err
}

func (b backend) Credentials(p proc.Process) (proc.Credentials, error) {
	c := proc.Credentials{UID: p.UID, PIDs: b.NSPIDs, Unshared: b.Unshared}
	if b.NSPIDs == nil {
		c.PIDs = []int{p.ID.PID}
	}
	if b.OtherRoot {
		c.Unshared |= proc.MountNamespace
	}
	if len(b.NSPIDs) > 1 {
		c.Unshared |= proc.PIDNamespace
	}
	return c, b.Err
}

func (b backend) Usage(proc.Process) (proc.Usage, error) {
	if b.Err != nil {
		return proc.Usage{}, b.Err
	}
	return b.ResourceUsage, nil
}

func (b backend) Activity(proc.Process) (proc.Activity, error) { return b.Active, b.Err }

func (b backend) Peer(_ proc.Process, c proc.Connection) (by proc.Peer, err error) {
	actual, err := proc.Inspect(b.PeerPID)
	if err != nil {
		return by, err
	}
	return proc.System().Peer(actual, c)
}
