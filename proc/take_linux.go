package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// ReadTable reads the process table. Processes that vanish meanwhile are left out, and those that may not be seen (see
// [Table.Hidden]); it fails if there is no process table to read. With [ErrNamespace] it returns a table of this process
// alone, of which nothing more can be asked.
func ReadTable(ctx context.Context) (*Table, error) { return mount(systemRoot).take(ctx) }

// Inspect reads one process by pid, a zombie too. It returns [ErrGone] if there is none; a thread is none.
func Inspect(pid int) (Process, error) { return mount(systemRoot).inspect(pid) }

func (f *procfs) take(ctx context.Context) (*Table, error) {
	if _, err := f.machine(); errors.Is(err, ErrNamespace) {
		return f.alone(), err
	} else if err != nil {
		return nil, err
	}
	pids, err := pidDir(f.root + "/").numbers("") // thread groups: the kernel leaves other threads out of the listing
	if err != nil {
		return nil, fmt.Errorf("reading the process table: %w", err)
	}
	list := make([]entry, len(pids))
	errs := make([]error, len(pids))
	share(len(pids), func(i int) {
		if errs[i] = ctx.Err(); errs[i] == nil {
			errs[i] = f.sight(&list[i], pids[i])
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
	return tableOf(list).hide(hidden), nil
}

// alone is the table of this process, by the numbers of our own pid namespace; empty if even that cannot be read.
func (f *procfs) alone() *Table {
	d := pidDir(f.root + "/self/")
	m, err := readMachine(f.root)
	if err != nil {
		return newTable(nil)
	}
	s, err := d.stat("stat")
	if err != nil {
		return newTable(nil)
	}
	s.pid, s.parent, s.group, s.session = os.Getpid(), os.Getppid(), 0, 0
	p := Process{UID: os.Geteuid(), src: f}
	p.Exe, p.Deleted, _ = d.target("exe")
	return newTable([]Process{p.with(m, s)})
}

// sight makes the entry of a process: its binary alone where that may be read, else all that there is. Another
// process that has the pid by the time the rest is read is read with its own binary.
func (f *procfs) sight(e *entry, pid int) (err error) {
	e.pid = pid
	e.started = func(keys []string) bool {
		env, err := f.at(pid).environ(keys)
		return err == nil && len(env) > 0
	}
	if e.exe, _, err = f.at(pid).target("exe"); err == nil {
		e.read = func() (Process, error) { return f.process(pid) }
		return nil
	}
	e.exe = ""
	e.p, err = f.process(pid)
	e.ok = err == nil
	return err
}
