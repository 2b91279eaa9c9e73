package discover

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"agentctl/proc"
)

// Watched is implemented by adapters that know which files and folders change when a session of theirs does.
type Watched interface {
	// Watch returns their paths: those whose size, time or existence changes whenever the storage, or what a live process
	// says of itself, does. What is missing here is seen late, not never.
	Watch(context.Context, Session) []string
	// MayRun reports whether a binary can be the agent's, so that a look is worth it when a process of it has begun.
	MayRun(exe string) bool
}

// How often to look. A look reads what it is about anew; between two of them only the sizes and times of a few files are
// asked for.
const (
	// glance is the time between two askings, and the least between two looks.
	glance = 250 * time.Millisecond
	// thrift bounds the processor time that looks take, to one part in so many.
	thrift = 200
	// round is when to look though nothing is seen to have changed.
	round = 10 * time.Second
)

// echoes are the looks due after the last change: at once, and when what a session shows by keeping silent is to be told
// from a pause (a second, where an agent records that it calls a tool but not that it asks for leave first).
func echoes() [3]time.Duration {
	return [...]time.Duration{0, 1200 * time.Millisecond, 5 * time.Second}
}

// senses are what a watch perceives by.
type senses struct {
	// came returns the binaries of the processes that have begun since it was last asked.
	came func() ([]string, error)
	// ends returns nil or [proc.ErrGone] once the process has ended; another error if that cannot be waited for.
	ends func(context.Context, proc.ID) error
	// alive reports whether it still runs.
	alive func(proc.ID) bool
	stamp func(path string) stamp
	// spent is the processor time that this process has used.
	spent func() time.Duration
	// now is the time of day.
	now func() time.Time
}

func systemSenses() senses {
	var roll proc.Roll
	return senses{came: roll.Call, ends: ends, alive: alive, stamp: stampOf, spent: spent, now: time.Now}
}

// watch tells when to look again: at once when a process has ended, soon when a file has changed.
type watch struct {
	senses
	adapters []Adapter
	files    map[string]stamp
	// processes are waited for until they end; of those that cannot be, it is asked.
	processes map[proc.ID]*attended
	ended     chan end
	looked    time.Time // when the last look began
	pause     time.Duration
	most      time.Duration // of the pause, however dear the looks are; 0: thrift alone counts
	comers    bool          // processes that begin count
	changed   time.Time     // when the last change was seen
	again     time.Time     // when another look is wanted, whatever happens; zero: whenever
	waiters   sync.WaitGroup
}

type attended struct {
	stop context.CancelFunc
	ask  bool // whether it still runs: its end does not tell itself
}

// end is that of a process, or why it cannot be waited for.
type end struct {
	process proc.ID
	err     error
}

func newWatch(adapters []Adapter, s senses) *watch {
	return &watch{
		senses: s, adapters: adapters, files: map[string]stamp{}, processes: map[proc.ID]*attended{}, ended: make(chan end),
	}
}

// looker looks, and returns besides what it found the sessions whose change makes another look worth while.
type looker func(context.Context) (r Result, about []Session, err error)

// run looks and tells, now and again whenever something may have changed, until tell wants no more or fails, or ctx ends.
// The first sessions are those that the first look will be about, as far as they are known.
func (w *watch) run(ctx context.Context, first []Session, look looker, tell func(Result) (more bool, err error)) error {
	ctx, stop := context.WithCancel(ctx)
	defer w.waiters.Wait()
	defer stop()
	w.attend(ctx, first)
	for {
		spent := w.spent()
		w.looked, w.again = w.now(), time.Time{}
		r, about, err := look(ctx)
		if err != nil {
			return err
		}
		if w.pause = max(glance, thrift*(w.spent()-spent)); w.most > 0 {
			w.pause = min(w.pause, w.most)
		}
		if more, err := tell(r); err != nil || !more {
			return err
		}
		w.attend(ctx, about)
		if err := w.rest(ctx); err != nil {
			return err
		}
	}
}

// rest returns when it is time to look again. The error is ctx's.
func (w *watch) rest(ctx context.Context) error {
	for {
		next := time.NewTimer(glance)
		select {
		case <-ctx.Done():
			next.Stop()
			return ctx.Err()
		case e := <-w.ended:
			next.Stop()
			if w.end(e) {
				return nil
			}
		case now := <-next.C:
			if came, asks := w.begun(), w.asks(); came || asks {
				w.changed = now
			}
			if w.due(now) {
				return nil
			}
		}
	}
}

// due reports whether a look is due, and not too soon.
func (w *watch) due(now time.Time) bool {
	if now.Sub(w.looked) < w.pause {
		return false
	}
	for _, after := range echoes() {
		if at := w.changed.Add(after); w.looked.Before(at) && !now.Before(at) {
			return true
		}
	}
	return now.Sub(w.looked) >= round || !w.again.IsZero() && !now.Before(w.again)
}

// wake asks for a look at this time, if none is due before.
func (w *watch) wake(at time.Time) {
	if w.again.IsZero() || at.Before(w.again) {
		w.again = at
	}
}

// end takes that a process has ended, and reports whether it has.
func (w *watch) end(e end) bool {
	if e.err == nil || errors.Is(e.err, proc.ErrGone) {
		w.changed = w.now()
		return true
	}
	if p := w.processes[e.process]; p != nil {
		p.ask = true
	}
	return false
}

// begun reports whether a process has begun that may be an agent. Where that cannot be seen, it is at the next round.
func (w *watch) begun() bool {
	if !w.comers {
		return false
	}
	came, _ := w.came()
	return slices.ContainsFunc(came, func(exe string) bool {
		return slices.ContainsFunc(w.adapters, func(a Adapter) bool {
			watched, ok := a.(Watched)
			return ok && watched.MayRun(exe)
		})
	})
}

// asks reports whether a file has changed, or a process ended that does not tell.
func (w *watch) asks() (changed bool) {
	for path, old := range w.files {
		if now := w.stamp(path); now != old {
			w.files[path], changed = now, true
		}
	}
	for id, p := range w.processes {
		if p.ask && !w.alive(id) {
			p.ask, changed = false, true
		}
	}
	return changed
}

// attend watches what these sessions are made of, and nothing else any more. A file that was not watched until now may
// have changed since the look.
func (w *watch) attend(ctx context.Context, sessions []Session) {
	files, processes := map[string]stamp{}, map[proc.ID]*attended{}
	for _, s := range sessions {
		for _, path := range w.filesOf(ctx, s) {
			if _, seen := files[path]; seen {
				continue
			}
			var known bool
			if files[path], known = w.files[path]; !known {
				files[path], w.changed = w.stamp(path), w.now()
			}
		}
		for _, p := range s.Processes {
			if processes[p.ID] = w.processes[p.ID]; processes[p.ID] == nil {
				processes[p.ID] = w.wait(ctx, p.ID)
				w.processes[p.ID] = processes[p.ID]
			}
		}
	}
	for id, p := range w.processes {
		if processes[id] == nil {
			p.stop()
		}
	}
	w.files, w.processes = files, processes
}

// wait waits for the process's end beside everything else.
func (w *watch) wait(ctx context.Context, id proc.ID) *attended {
	ctx, stop := context.WithCancel(ctx)
	w.waiters.Go(func() {
		err := w.ends(ctx, id)
		select {
		case w.ended <- end{id, err}:
		case <-ctx.Done():
		}
	})
	return &attended{stop: stop}
}

// filesOf returns the files that change with a session. Of a process whose home is not ours there are none: its adapter would
// look into the home to find them.
func (w *watch) filesOf(ctx context.Context, s Session) []string {
	if s.Path == "" && s.Trust == Foreign {
		return nil
	}
	for _, a := range w.adapters {
		if a, ok := a.(Watched); ok && s.Agent == a.(Adapter).Name() {
			return a.Watch(confinedTo(ctx, s), s)
		}
	}
	if s.Path == "" {
		return nil
	}
	return []string{s.Path}
}

func ends(ctx context.Context, id proc.ID) error {
	h, err := proc.Open(id)
	if err != nil {
		return err
	}
	defer h.Close()
	return h.Wait(ctx)
}

func alive(id proc.ID) bool {
	p, err := proc.Inspect(id.PID)
	return err == nil && p.ID == id && p.Alive()
}

// stamp is what a file or folder shows of itself without being opened; the zero stamp is that of none.
type stamp struct {
	size, seconds, nanoseconds int64
	inode                      uint64
}

func stampOf(path string) stamp {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return stamp{}
	}
	seconds, nanoseconds := st.Mtim.Unix()
	return stamp{st.Size, seconds, nanoseconds, st.Ino}
}

func spent() time.Duration {
	var use unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &use); err != nil {
		return 0
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
