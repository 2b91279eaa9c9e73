package watch

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"agentctl/discover"
	"agentctl/proc"
)

// pace is how often snapshots are taken.
type pace struct {
	// min is the shortest time between two snapshots. The pause after a snapshot is share times what it took, at most max.
	min, max, share time.Duration
	// fixedInterval: a snapshot is due after each pause, whether or not a change was seen.
	fixedInterval bool
}

// poller waits until the next snapshot is due: at once when a process has ended, soon when a file has changed or a process
// has started. A poll reads only the sizes and times of a few files, and the list of pids.
type poller struct {
	system
	pace
	scanner *discover.Scanner
	// watchStarts: the start of an agent's process makes a snapshot due.
	watchStarts bool
	// wake makes a snapshot due when it is closed; may be nil.
	wake <-chan struct{}

	files map[string]fileStamp
	// processes are waited for until they end.
	processes  map[proc.ID]*exitWatch
	exits      chan struct{}
	taken      time.Time // when the last snapshot began
	pause      time.Duration
	lastChange time.Time // when the last change was seen
	wakeTime   time.Time // when another snapshot is wanted, whatever changes; zero: whenever
}

// exitWatch waits for the end of a process.
type exitWatch struct {
	stop context.CancelFunc
	done chan struct{}
}

// newPoller makes the poller of all watchers; that of a launch gets another pace.
func newPoller(scanner *discover.Scanner) *poller {
	var monitor proc.StartMonitor
	return &poller{
		system: system{startedBinaries: monitor.Poll, ended: ended, stamp: stampOf, now: time.Now},
		pace:   pace{min: pollInterval, max: maxDelay, share: costShare}, scanner: scanner,
		files: map[string]fileStamp{}, processes: map[proc.ID]*exitWatch{}, exits: make(chan struct{}),
	}
}

// snapshotBegan starts the measurement of how long a snapshot takes.
func (p *poller) snapshotBegan() { p.taken, p.wakeTime = p.now(), time.Time{} }

// snapshotEnded sets the pause after the snapshot by how long it took.
func (p *poller) snapshotEnded() { p.pause = min(max(p.min, p.share*p.took()), p.max) }

// took returns how long the snapshot that began last has taken until now.
func (p *poller) took() time.Duration { return p.now().Sub(p.taken) }

// wait waits until the next snapshot is due. The error is ctx's.
func (p *poller) wait(ctx context.Context) error {
	interval := pollInterval
	if p.fixedInterval {
		interval = p.pause
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-p.wake:
			p.wake = nil
			return nil
		case <-p.exits:
			p.lastChange = p.now()
			return nil
		case now := <-time.After(interval):
			if p.fixedInterval {
				return nil
			}
			if begun, changed := p.agentStarted(), p.poll(); begun || changed {
				p.lastChange = now
			}
			if p.due(now) {
				return nil
			}
		}
	}
}

// due reports whether a snapshot is due, and the pause after the last one is over.
func (p *poller) due(now time.Time) bool {
	if now.Sub(p.taken) < p.pause {
		return false
	}
	for _, after := range afterChange() {
		if at := p.lastChange.Add(after); p.taken.Before(at) && !now.Before(at) {
			return true
		}
	}
	return now.Sub(p.taken) >= idleInterval || !p.wakeTime.IsZero() && !now.Before(p.wakeTime)
}

// wakeAt schedules a snapshot for this time, if none is due before.
func (p *poller) wakeAt(at time.Time) {
	if p.wakeTime.IsZero() || at.Before(p.wakeTime) {
		p.wakeTime = at
	}
}

// agentStarted reports whether a process has started that may be an agent. Where the system cannot list processes, the idle
// interval bounds the delay.
func (p *poller) agentStarted() bool {
	if !p.watchStarts {
		return false
	}
	binaries, _ := p.startedBinaries()
	return slices.ContainsFunc(binaries, p.scanner.MatchesBinary)
}

// poll reports whether a file has changed.
func (p *poller) poll() (changed bool) {
	for path, old := range p.files {
		if now := p.stamp(path); now != old {
			p.files[path], changed = now, true
		}
	}
	return changed
}

// watch watches the files and processes of these sessions, and no others any more. A file that was not watched until now
// counts as changed, since it may have changed after the snapshot.
func (p *poller) watch(ctx context.Context, sessions []discover.Session) {
	if p.fixedInterval {
		return
	}
	files, processes := map[string]fileStamp{}, map[proc.ID]*exitWatch{}
	for _, s := range sessions {
		for _, path := range p.scanner.WatchPaths(ctx, s) {
			if _, seen := files[path]; seen {
				continue
			}
			var known bool
			if files[path], known = p.files[path]; !known {
				files[path], p.lastChange = p.stamp(path), p.now()
			}
		}
		for _, q := range s.AllProcesses() {
			if processes[q.ID] = p.processes[q.ID]; processes[q.ID] == nil {
				processes[q.ID] = p.waitFor(ctx, q.ID)
				p.processes[q.ID] = processes[q.ID]
			}
		}
	}
	for id, w := range p.processes {
		if processes[id] == nil {
			w.stop()
		}
	}
	p.files, p.processes = files, processes
}

// waitFor waits for the end of a process in a goroutine, until it is stopped.
func (p *poller) waitFor(ctx context.Context, id proc.ID) *exitWatch {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	w := &exitWatch{stop: stop, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		if err := p.ended(ctx, id); err != nil && !errors.Is(err, proc.ErrGone) {
			return // the idle interval bounds the delay
		}
		select {
		case p.exits <- struct{}{}:
		case <-ctx.Done():
		}
	}()
	return w
}

// close stops all waiting for processes.
func (p *poller) close() {
	for _, w := range p.processes {
		w.stop()
	}
	for _, w := range p.processes {
		<-w.done
	}
	clear(p.processes)
}

// system is what a poller asks the machine.
type system struct {
	// startedBinaries returns the binaries of the processes that have begun since it was last asked.
	startedBinaries func() ([]string, error)
	// ended returns nil or [proc.ErrGone] once the process has ended; another error if that cannot be waited for.
	ended func(context.Context, proc.ID) error
	stamp func(path string) fileStamp
	// now is the time of day.
	now func() time.Time
}

func ended(ctx context.Context, id proc.ID) error {
	h, err := proc.Open(id)
	if err != nil {
		return err
	}
	defer h.Close()
	return h.Wait(ctx)
}

// fileStamp is what a file or folder shows of itself without being opened; the zero value is that of none.
type fileStamp struct {
	size, seconds, nanoseconds int64
	inode                      uint64
}

func stampOf(path string) fileStamp {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return fileStamp{}
	}
	seconds, nanoseconds := st.Mtim.Unix()
	return fileStamp{st.Size, seconds, nanoseconds, st.Ino}
}
