//go:build !linux && !darwin

package proc

import (
	"context"
	"crypto/rand"
	"fmt"
	"syscall"

	ps "github.com/mitchellh/go-ps"
)

// ReadTable reads the process table: pid, parent and name are all that is known. Births differ in each table.
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
	return newTable(list).hide(false), nil
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

func system() source { return silent{} }

// silent is a system that tells no more of a process.
type silent struct{}

func (silent) args(Process) ([]string, error) { return nil, ErrUnsupported }
func (silent) dir(Process) (string, error)    { return "", ErrUnsupported }

func (silent) env(Process, []string) (map[string]string, error) { return nil, ErrUnsupported }

func (silent) openFiles(Process, func(string) bool) ([]OpenFile, error) { return nil, ErrUnsupported }

func (silent) listenPorts(Process, []string, listeners) ([]int, error) { return nil, ErrUnsupported }

func (silent) pidNamespace(Process) (string, error)   { return "", ErrUnsupported }
func (silent) sharesRoot(Process) (bool, error)       { return false, ErrUnsupported }
func (silent) samePath(Process, string) (bool, error) { return false, ErrUnsupported }
func (silent) standing(Process) (Credentials, error)  { return Credentials{}, ErrUnsupported }
func (silent) usage(Process) (Usage, error)           { return Usage{}, ErrUnsupported }
func (silent) written(Process) (int64, error)         { return 0, ErrUnsupported }

func (silent) holder(Process, connection) (holder, error) { return byNobody, ErrUnsupported }

// pin cannot be had: without a birth nothing tells one process from the next with its pid.
type pin struct{}

func newPin(ID) (pin, error) { return pin{}, ErrUnsupported }

func (pin) signal(syscall.Signal) error { return ErrUnsupported }
func (pin) wait(context.Context) error  { return ErrUnsupported }
func (pin) close() error                { return nil }
