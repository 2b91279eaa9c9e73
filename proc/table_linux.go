package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
)

// ReadTable reads the process table. Processes that end meanwhile, or that the system hides (see [Table.Hidden]), are
// left out. It fails if the table cannot be read. With [ErrNamespace] it returns a table of this process alone, of which
// nothing more can be read.
func ReadTable(ctx context.Context) (*Table, error) { return mount(systemRoot).readTable(ctx) }

// Inspect reads one process by pid; it may be a zombie. It returns [ErrGone] if there is none. The ID of a thread is
// none.
func Inspect(pid int) (Process, error) { return mount(systemRoot).inspect(pid) }

func (f *procfs) readTable(ctx context.Context) (*Table, error) {
	if _, err := f.boot(); errors.Is(err, ErrNamespace) {
		return f.selfTable(), err
	} else if err != nil {
		return nil, err
	}
	pids, err := pidDir(f.root + "/").listNumbers("") // thread groups: the kernel leaves other threads out of the listing
	if err != nil {
		return nil, fmt.Errorf("reading the process table: %w", err)
	}
	read, errs := make([]Process, len(pids)), make([]error, len(pids))
	parallel(len(pids), func(i int) {
		if errs[i] = ctx.Err(); errs[i] == nil {
			read[i], errs[i] = f.process(pids[i])
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	list := make([]Process, 0, len(pids))
	var unread []error
	hidden := false
	for i, p := range read {
		switch err := errs[i]; {
		case err == nil:
			list = append(list, p)
		case denied(err):
			hidden = true
		case !errors.Is(err, ErrGone):
			unread = append(unread, err)
		}
	}
	t := newTable(list).setHidden(hidden)
	t.err, t.hints, t.locks = errors.Join(unread...), f, sync.OnceValue(f.readLocks)
	return t, nil
}

// selfTable returns a table of this process, with the pids of our own pid namespace; it is empty if that cannot be read.
func (f *procfs) selfTable() *Table {
	d := pidDir(f.root + "/self/")
	m, err := readBootInfo(f.root)
	if err != nil {
		return newTable(nil)
	}
	s, err := d.stat("stat")
	if err != nil {
		return newTable(nil)
	}
	s.pid, s.parent, s.group, s.session = os.Getpid(), os.Getppid(), 0, 0
	p := Process{UID: os.Geteuid(), impl: f}
	p.Exe, p.Deleted, _ = d.readTarget("exe")
	return newTable([]Process{p.with(m, s)})
}

// listPIDs returns all processes. binary reads the path of the binary of one; it is "" where that may not be read.
func listPIDs() (pids []int, binary func(pid int) string, err error) {
	f := mount(systemRoot)
	pids, err = pidDir(f.root + "/").listNumbers("")
	return pids, func(pid int) string {
		path, _, _ := f.pid(pid).readTarget("exe")
		return path
	}, err
}

func (f *procfs) openNames(p Process) []string { return f.pid(p.ID.PID).openFileNames() }

func (f *procfs) hasEnv(p Process, keys []string) bool {
	env, err := f.pid(p.ID.PID).environ(keys)
	return err == nil && len(env) > 0
}
