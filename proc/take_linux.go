package proc

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

// Take reads the process table. Processes that vanish meanwhile are left out, and those that may not be seen (see
// [Table.Hidden]); it fails if there is no process table to read, or one of another pid namespace than ours.
func Take(ctx context.Context) (*Table, error) { return mount("/proc").take(ctx) }

// Inspect reads one process by pid, a zombie too. It returns [ErrGone] if there is none; a thread is none.
func Inspect(pid int) (Process, error) { return mount("/proc").inspect(pid) }

func (f *procfs) take(ctx context.Context) (*Table, error) {
	if _, err := f.machine(); err != nil {
		return nil, err
	}
	pids, err := pidDir(f.root + "/").numbers("") // thread groups: the kernel leaves other threads out of the listing
	if err != nil {
		return nil, fmt.Errorf("reading the process table: %w", err)
	}
	list := make([]Process, len(pids))
	errs := make([]error, len(pids))
	share(len(pids), func(i int, buf []byte) {
		if errs[i] = ctx.Err(); errs[i] == nil {
			list[i], errs[i] = f.process(pids[i], buf)
		}
	})
	seen, hidden := list[:0], false
	for i, err := range errs {
		switch {
		case err == nil:
			seen = append(seen, list[i])
		case denied(err):
			hidden = true
		case !errors.Is(err, ErrGone):
			return nil, fmt.Errorf("reading the process table: %w", err)
		}
	}
	return newTable(seen).hide(hidden), nil
}

// share runs work(i) for every i < n on the available cores, each with a buffer of its own.
func share(n int, work func(i int, buf []byte)) {
	const batch = 32 // enough that starting a core's share costs little beside it
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n/batch+1) {
		wg.Go(func() {
			buf := make([]byte, statSize)
			for from := int(next.Add(batch)) - batch; from < n; from = int(next.Add(batch)) - batch {
				for i := from; i < min(from+batch, n); i++ {
					work(i, buf)
				}
			}
		})
	}
	wg.Wait()
}
