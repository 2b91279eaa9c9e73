package watch

import (
	"context"
	"errors"
	"slices"
	"time"

	"agentctl/discover"
	"agentctl/proc"
)

// pace says how often snapshots are taken.
type pace struct {
	// min is the shortest time between two snapshots. share is how many times as long as a snapshot cost the pause after it
	// is; max bounds that, 0: it has no bound.
	min, max time.Duration
	share    time.Duration
	// always: a snapshot is due after each pause, whatever was seen to change.
	always bool
}

// poller tells when the next snapshot is due: at once when a process has ended, soon when a file has changed or a process
// has begun. Between two snapshots only the sizes and times of a few files are asked for, and the list of pids.
type poller struct {
	system
	pace
	scanner *discover.Scanner
	// arrivals: processes that begin count.
	arrivals bool
	// wake is closed to have a snapshot at once; nil: nothing does.
	wake <-chan struct{}

	files map[string]fileStamp
	// processes are waited for until they end; those that cannot be are polled.
	processes map[proc.ID]*exitWatch
	exits     chan exit
	taken     time.Time // when the last snapshot began
	spentThen time.Duration
	pause     time.Duration
	changed   time.Time // when the last change was seen
	again     time.Time // when another snapshot is wanted, whatever changes; zero: whenever
}

// exitWatch waits for the end of a process.
type exitWatch struct {
	stop context.CancelFunc
	done chan struct{}
	// poll: its end cannot be waited for, so each poll asks for it.
	poll bool
}

// exit is the end of a process, or why it cannot be waited for.
type exit struct {
	process proc.ID
	err     error
}

func newPoller(world *discover.Scanner, p pace, s system) *poller {
	return &poller{
		system: s, pace: p, scanner: world, files: map[string]fileStamp{}, processes: map[proc.ID]*exitWatch{},
		exits: make(chan exit),
	}
}

// begin notes that a snapshot begins, end that it was taken.
func (p *poller) begin() {
	p.spentThen, p.taken, p.again = p.spent(), p.now(), time.Time{}
}

func (p *poller) end() {
	p.pause = max(p.min, p.share*p.cost())
	if p.max > 0 {
		p.pause = min(p.pause, p.max)
	}
}

// cost is what the last snapshot has cost until now.
func (p *poller) cost() time.Duration { return p.spent() - p.spentThen }

// wait returns when the next snapshot is due. The error is ctx's.
func (p *poller) wait(ctx context.Context) error {
	interval := pollInterval
	if p.always {
		interval = p.pause
	}
	for {
		next := time.NewTimer(interval)
		select {
		case <-ctx.Done():
			next.Stop()
			return ctx.Err()
		case <-p.wake:
			next.Stop()
			p.wake = nil
			return nil
		case e := <-p.exits:
			next.Stop()
			if p.exited(e) {
				return nil
			}
		case now := <-next.C:
			if p.always {
				return nil
			}
			if begun, changed := p.begun(), p.poll(); begun || changed {
				p.changed = now
			}
			if p.due(now) {
				return nil
			}
		}
	}
}

// due reports whether a snapshot is due, and not too soon.
func (p *poller) due(now time.Time) bool {
	if now.Sub(p.taken) < p.pause {
		return false
	}
	for _, after := range afterChange() {
		if at := p.changed.Add(after); p.taken.Before(at) && !now.Before(at) {
			return true
		}
	}
	return now.Sub(p.taken) >= idleInterval || !p.again.IsZero() && !now.Before(p.again)
}

// wakeAt asks for a snapshot at this time, if none is due before.
func (p *poller) wakeAt(at time.Time) {
	if p.again.IsZero() || at.Before(p.again) {
		p.again = at
	}
}

// exited reports whether a process has ended indeed.
func (p *poller) exited(e exit) bool {
	if e.err == nil || errors.Is(e.err, proc.ErrGone) {
		p.changed = p.now()
		return true
	}
	if w := p.processes[e.process]; w != nil {
		w.poll = true
	}
	return false
}

// begun reports whether a process has begun that may be an agent. Where the system cannot list processes, the
// idle interval bounds how late it is seen.
func (p *poller) begun() bool {
	if !p.arrivals {
		return false
	}
	binaries, _ := p.arrived()
	return slices.ContainsFunc(binaries, p.scanner.MatchesBinary)
}

// poll reports whether a file has changed, or a process has ended whose end cannot be waited for.
func (p *poller) poll() (changed bool) {
	for path, old := range p.files {
		if now := p.stamp(path); now != old {
			p.files[path], changed = now, true
		}
	}
	for id, w := range p.processes {
		if w.poll && !p.alive(id) {
			w.poll, changed = false, true
		}
	}
	return changed
}

// attend watches the files and processes of these sessions and stops watching all others. A file that was not watched until
// now may have changed since the snapshot.
func (p *poller) attend(ctx context.Context, sessions []discover.Session) {
	if p.always {
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
				files[path], p.changed = p.stamp(path), p.now()
			}
		}
		for _, q := range s.Processes {
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

// waitFor waits for a process's end beside everything else, until it is stopped.
func (p *poller) waitFor(ctx context.Context, id proc.ID) *exitWatch {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	w := &exitWatch{stop: stop, done: make(chan struct{})}
	go func() {
		defer close(w.done)
		err := p.ended(ctx, id)
		select {
		case p.exits <- exit{id, err}:
		case <-ctx.Done():
		}
	}()
	return w
}

// close ends the waiting for processes.
func (p *poller) close() {
	for _, w := range p.processes {
		w.stop()
	}
	for _, w := range p.processes {
		<-w.done
	}
	clear(p.processes)
}
