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
	list := make([]entry, len(pids))
	errs := make([]error, len(pids))
	parallel(len(pids), func(i int) {
		if errs[i] = ctx.Err(); errs[i] == nil {
			errs[i] = f.readEntry(&list[i], pids[i])
		}
	})
	hidden := false
	for _, err := range errs {
		switch {
		case err == nil, errors.Is(err, ErrGone):
		case denied(err):
			hidden = true
		default:
			return nil, fmt.Errorf("reading the process table: %w", err)
		}
	}
	t := tableOf(list).setHidden(hidden)
	t.locks = sync.OnceValue(f.readLocks)
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

// readEntry fills the entry of a process: with its binary alone if that may be read, else with everything. If another
// process has the pid by the time the rest is read, it is read with its own binary.
func (f *procfs) readEntry(e *entry, pid int) (err error) {
	e.pid = pid
	e.hasEnv = func(keys []string) bool {
		env, err := f.pid(pid).environ(keys)
		return err == nil && len(env) > 0
	}
	e.names, e.files = func() []string { return nil }, f.pid(pid).openFileNames
	if e.exe, _, err = f.pid(pid).readTarget("exe"); err == nil {
		names := f.pid(pid).names()
		e.names = func() []string { return names }
		e.read = func() (Process, error) { return f.process(pid) }
		return nil
	}
	e.exe = ""
	e.p, err = f.process(pid)
	e.ok = err == nil
	return err
}
