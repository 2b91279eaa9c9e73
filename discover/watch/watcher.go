// Package watch follows sessions over time: poll → snapshot → debounce → diff → events. It is the only engine behind wait,
// logs -f, events, list --watch and the proof of a launch.
//
// A poll is cheap: it asks for exits, sizes and times of the files that matter, and new processes. When it sees a change, a
// snapshot ([discover.Scanner.Snapshot]) reads anew what is watched. Each watched session has a track, which debounces what
// only seems to have stopped; events are the difference between what was reported of a track and what is true of it now.
// Nothing is stored, and while the caller is busy nothing is read and nothing is lost.
package watch

import (
	"context"
	"slices"
	"time"

	"agentctl/discover"
	"agentctl/proc"
)

// Watcher watches sessions. It is for one goroutine at a time.
type Watcher struct {
	scanner *discover.Scanner
	poller  *poller
	want    discover.ReadOptions
	tracks  []*track
	// ran says which sessions the processes ran at the last snapshot.
	ran map[run]bool
	// all is nil for a watcher of given sessions.
	all *selection
	// about are the sessions whose change makes another snapshot worth while; nil before the first one.
	about []discover.Session
	taken bool
}

// run is a session that a process runs.
type run struct {
	process proc.ID
	agent   discover.Agent
	id      string
}

// NewWatcher watches these sessions: their rows come in their order, again whenever they may have changed. The end of a
// process is seen at once, a change in the storage within a second, unless that would take too much of a processor. A
// session that lives on in another process, whose file is moved, or that gets its name, keeps its place.
func NewWatcher(world *discover.Scanner, sessions []discover.Session) *Watcher {
	return newWatcher(world, sessions, thisSystem())
}

// NewLowLatencyWatcher is [Sessions] for somebody who reads along: a change waits for its snapshot no longer than a moment, whatever
// that costs.
func NewLowLatencyWatcher(world *discover.Scanner, sessions []discover.Session) *Watcher {
	w := newWatcher(world, sessions, thisSystem())
	w.poller.max = maxDelay
	return w
}

func newWatcher(world *discover.Scanner, sessions []discover.Session, s system) *Watcher {
	w := &Watcher{
		scanner: world, want: discover.ReadOptions{TurnStart: true}, about: sessions,
		poller: newPoller(world, pace{min: pollInterval, share: costShare}, s),
	}
	for _, s := range sessions {
		w.tracks = append(w.tracks, &track{now: s})
	}
	return w
}

// NewFilterWatcher watches all sessions of the selection: the live ones, with sel.All the stopped ones that [discover.Scanner.List] shows
// too, and in one snapshot each those that have stopped since the last one, though they were never seen live: what the
// storage holds of them is enough.
func NewFilterWatcher(world *discover.Scanner, sel discover.SessionFilter) *Watcher {
	return newFilterWatcher(world, sel, thisSystem())
}

func newFilterWatcher(world *discover.Scanner, sel discover.SessionFilter, s system) *Watcher {
	w := &Watcher{
		scanner: world, want: discover.ReadOptions{Tokens: sel.Tokens}, all: newSelection(sel),
		poller: newPoller(world, pace{min: pollInterval, max: maxDelay, share: costShare}, s),
	}
	w.poller.arrivals = true
	return w
}

// NewLaunchWatcher watches the live sessions of an agent that was just started, at short intervals. A snapshot is due at once when the
// channel is closed.
func NewLaunchWatcher(world *discover.Scanner, agent discover.Agent, ended <-chan struct{}) *Watcher {
	s := thisSystem()
	s.spent = elapsed()
	w := newFilterWatcher(world, discover.SessionFilter{Agents: []discover.Agent{agent}}, s)
	w.all.liveOnly = true
	w.poller.pace = pace{min: launchMin, max: launchMax, share: launchShare, always: true}
	w.poller.wake = ended
	return w
}

// Close ends the watching.
func (w *Watcher) Close() { w.poller.close() }

// Next waits until sessions may have changed, but not the first time, and returns the rows. The error is ctx's.
func (w *Watcher) Next(ctx context.Context) (discover.Result, error) {
	if err := w.Wait(ctx); err != nil {
		return discover.Result{}, err
	}
	return w.Snapshot(ctx)
}

// Wait is the first half of [Watcher.Next], and [Watcher.Snapshot] the second.
func (w *Watcher) Wait(ctx context.Context) error {
	w.poller.attend(ctx, w.about)
	if !w.taken {
		return ctx.Err()
	}
	return w.poller.wait(ctx)
}

// Snapshot returns the rows as they are now.
func (w *Watcher) Snapshot(ctx context.Context) (discover.Result, error) {
	w.poller.begin()
	defer w.poller.end()
	w.taken = true
	if w.all != nil {
		return w.snapshotAll(ctx)
	}
	var agents []discover.Agent
	for _, t := range w.tracks {
		agents = append(agents, t.now.Agent)
	}
	snap, err := w.scanner.Snapshot(ctx, discover.SnapshotRequest{Agents: agents, Options: w.want, Follow: w.sessions()})
	if err != nil {
		return discover.Result{}, err
	}
	w.step(&snap, w.poller.now())
	w.remember(snap.Sessions)
	snap.Result.Sessions = w.sessions()
	w.about = w.sessions()
	return snap.Result, nil
}

// sessions are those of the tracks.
func (w *Watcher) sessions() []discover.Session {
	list := make([]discover.Session, len(w.tracks))
	for i, t := range w.tracks {
		list[i] = t.now
	}
	return list
}

// step applies a snapshot to the tracks.
func (w *Watcher) step(snap *discover.Snapshot, now time.Time) {
	turned := w.turned(snap.Sessions)
	for i, t := range w.tracks {
		t.step(snap.Followed[i], snap.Table, turned, now)
		if until := t.stopping.Add(stopDebounce); !t.stopping.IsZero() && now.Before(until) {
			w.poller.wakeAt(until)
		}
	}
}

// turned are the processes that run a session that they did not run before.
func (w *Watcher) turned(rows []discover.Session) map[proc.ID]bool {
	turned := map[proc.ID]bool{}
	for _, row := range rows {
		for _, p := range row.Processes {
			if row.ID != "" && !row.IsSubagent() && !w.ran[run{p.ID, row.Agent, row.ID}] {
				turned[p.ID] = true
			}
		}
	}
	return turned
}

// remember keeps which sessions the processes run, by the rows and by what is believed of the tracks.
func (w *Watcher) remember(rows []discover.Session) {
	w.ran = map[run]bool{}
	for _, row := range slices.Concat(rows, w.sessions()) {
		for _, p := range row.Processes {
			w.ran[run{p.ID, row.Agent, row.ID}] = true
		}
	}
}
