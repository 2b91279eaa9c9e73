//go:build !linux && !darwin

package proc

import (
	"context"
	"crypto/rand"
	"fmt"
	"syscall"

	ps "github.com/mitchellh/go-ps"
)

// ReadTable reads the process table: only pid, parent and name are known. Each table has births of its own.
func ReadTable(context.Context) (*Table, error) {
	all, err := ps.Processes()
	if err != nil {
		return nil, fmt.Errorf("reading the process table: %w", err)
	}
	birth := rand.Text()
	list := make([]Process, 0, len(all))
	for _, p := range all {
		list = append(list, process(p, birth))
	}
	return newTable(list).setHidden(false), nil
}

// Inspect reads one process by pid. It returns [ErrGone] if there is none.
func Inspect(pid int) (Process, error) {
	p, err := ps.FindProcess(pid)
	if err != nil {
		return Process{}, fmt.Errorf("process %d: %w", pid, err)
	}
	if p == nil {
		return Process{}, ErrGone
	}
	return process(p, rand.Text()), nil
}

func process(p ps.Process, birth string) Process {
	return Process{ID: ID{PID: p.Pid(), Birth: birth}, Parent: p.PPid(), UID: -1, Name: p.Executable()}
}

func systemListeners() ([]listener, error) { return nil, ErrUnsupported }

func system() backend { return unsupported{} }

// unsupported is the backend of a system that provides no more facts of a process.
type unsupported struct{}

func (unsupported) args(Process) ([]string, error) { return nil, ErrUnsupported }
func (unsupported) cwd(Process) (string, error)    { return "", ErrUnsupported }

func (unsupported) env(Process, []string) (map[string]string, error) { return nil, ErrUnsupported }

func (unsupported) openFiles(Process, func(string) bool) ([]OpenFile, error) {
	return nil, ErrUnsupported
}

func (unsupported) listenPorts(Process, []string, listenersFunc) ([]int, error) {
	return nil, ErrUnsupported
}

func (unsupported) pidNamespace(Process) (string, error)     { return "", ErrUnsupported }
func (unsupported) tty(Process) (string, error)              { return "", ErrUnsupported }
func (unsupported) sharesRoot(Process) (bool, error)         { return false, ErrUnsupported }
func (unsupported) samePath(Process, string) (bool, error)   { return false, ErrUnsupported }
func (unsupported) credentials(Process) (Credentials, error) { return Credentials{}, ErrUnsupported }
func (unsupported) usage(Process) (Usage, error)             { return Usage{}, ErrUnsupported }
func (unsupported) bytesWritten(Process) (int64, error)      { return 0, ErrUnsupported }

func (unsupported) peer(Process, connection) (peer, error) { return peerPending, ErrUnsupported }

// processRef does not work: without a birth, nothing distinguishes processes that have one pid after the other.
type processRef struct{}

func newProcessRef(ID) (processRef, error) { return processRef{}, ErrUnsupported }

func (processRef) signal(syscall.Signal) error { return ErrUnsupported }
func (processRef) wait(context.Context) error  { return ErrUnsupported }
func (processRef) close() error                { return nil }

// listener is not used: the system provides no ports.
type listener struct{}
