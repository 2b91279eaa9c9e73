// Package watch follows sessions over time: poll → snapshot → debounce → diff → events. It is the only engine behind wait,
// logs -f, events, list --watch and the proof of a launch.
//
// A poll is cheap: it checks for ended and started processes, and for changed sizes and times of files. When it finds a
// change, a snapshot ([discover.Scanner.Snapshot]) reads the watched sessions again. Each watched session has a track, which
// debounces stops; events are the difference between the last reported state of a track and its state now. Nothing is
// stored. While the caller is busy nothing is read, and no change is lost.
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
	options discover.ReadOptions
	tracks  []*track
	// ranBefore are the sessions that the processes ran at the last snapshot.
	ranBefore map[run]bool
	// filter is the state of a filter's watcher; nil for a watcher of given sessions.
	filter *filterState
	// watched are the sessions whose files and processes are polled; nil before the first snapshot.
	watched []discover.Session
	started bool
}

// run is a session that a process runs.
type run struct {
	process proc.ID
	agent   discover.Agent
	id      string
}

// NewWatcher watches these sessions. Its snapshots have one row for each, in this order. The end of a process is seen at
// once, a change in the storage within a second. A session keeps its row when it continues in another process, when its file
// is moved, or when its ID becomes known.
func NewWatcher(scanner *discover.Scanner, sessions []discover.Session) *Watcher {
	w := &Watcher{scanner: scanner, options: discover.ReadOptions{TurnStart: true}, watched: sessions, poller: newPoller(scanner)}
	for _, s := range sessions {
		w.tracks = append(w.tracks, &track{now: s})
	}
	return w
}

// NewFilterWatcher watches all sessions that match a filter: the live ones, and, with IncludeStopped, the stopped ones that
// [discover.Scanner.List] returns. Sessions that started and stopped between two snapshots are found in the storage, and are
// in one snapshot each.
func NewFilterWatcher(scanner *discover.Scanner, filter discover.SessionFilter) *Watcher {
	w := &Watcher{
		scanner: scanner, options: discover.ReadOptions{Tokens: filter.Tokens}, poller: newPoller(scanner),
		filter: &filterState{SessionFilter: filter, stopped: map[discover.Key]stopped{}, unclaimed: map[discover.Key]time.Time{}},
	}
	w.poller.watchStarts = true
	return w
}

// NewLaunchWatcher watches the live sessions of an agent that was just started, at short intervals. A snapshot is due at once
// when the channel is closed.
func NewLaunchWatcher(scanner *discover.Scanner, agent discover.Agent, ended <-chan struct{}) *Watcher {
	w := NewFilterWatcher(scanner, discover.SessionFilter{Agents: []discover.Agent{agent}})
	w.filter.liveOnly = true
	w.poller.pace = pace{min: launchMin, max: launchMax, share: launchShare, fixedInterval: true}
	w.poller.wake = ended
	return w
}

// ReadQuotas has the rows say what their agents know of their providers' limits.
func (w *Watcher) ReadQuotas() { w.options.Quotas = true }

// WakeIn has the next [Watcher.Wait] end after this time, if it does not end before.
func (w *Watcher) WakeIn(d time.Duration) { w.poller.wakeAt(w.poller.now().Add(d)) }

// Close releases what the watcher waits for.
func (w *Watcher) Close() { w.poller.close() }

// Next waits until sessions may have changed, and returns the rows. It does not wait the first time. The error is ctx's.
func (w *Watcher) Next(ctx context.Context) (discover.Result, error) {
	if err := w.Wait(ctx); err != nil {
		return discover.Result{}, err
	}
	return w.Snapshot(ctx)
}

// Wait is the first half of [Watcher.Next], and [Watcher.Snapshot] the second.
func (w *Watcher) Wait(ctx context.Context) error {
	w.poller.watch(ctx, w.watched)
	if !w.started {
		return ctx.Err()
	}
	return w.poller.wait(ctx)
}

// Snapshot returns the rows as they are now.
func (w *Watcher) Snapshot(ctx context.Context) (discover.Result, error) {
	w.poller.snapshotBegan()
	defer w.poller.snapshotEnded()
	w.started = true
	if w.filter != nil {
		return w.snapshotAll(ctx)
	}
	var agents []discover.Agent
	for _, t := range w.tracks {
		agents = append(agents, t.now.Agent)
	}
	snap, err := w.scanner.Snapshot(ctx, discover.SnapshotRequest{Agents: agents, Options: w.options, Follow: w.sessions()})
	if err != nil {
		return discover.Result{}, err
	}
	w.applySnapshot(&snap, w.poller.now())
	w.rememberRuns(snap.Sessions)
	snap.Result.Sessions = w.sessions()
	w.watched = w.sessions()
	return snap.Result, nil
}

// sessions returns the sessions of the tracks.
func (w *Watcher) sessions() []discover.Session {
	list := make([]discover.Session, len(w.tracks))
	for i, t := range w.tracks {
		list[i] = t.now
	}
	return list
}

// applySnapshot updates the tracks.
func (w *Watcher) applySnapshot(snap *discover.Snapshot, now time.Time) {
	switched := w.switched(snap.Sessions)
	for i, t := range w.tracks {
		t.update(snap.Followed[i], snap.Table, switched, now)
		if until := t.stopping.Add(stopDebounce); !t.stopping.IsZero() && now.Before(until) {
			w.poller.wakeAt(until)
		}
	}
}

// switched returns the processes that run a session that they did not run before.
func (w *Watcher) switched(rows []discover.Session) map[proc.ID]bool {
	switched := map[proc.ID]bool{}
	for _, row := range rows {
		for _, p := range row.Processes {
			if row.ID != "" && !row.IsSubagent() && !w.ranBefore[run{p.ID, row.Agent, row.ID}] {
				switched[p.ID] = true
			}
		}
	}
	return switched
}

// rememberRuns keeps which sessions the processes run, by the rows and by the debounced tracks.
func (w *Watcher) rememberRuns(rows []discover.Session) {
	w.ranBefore = map[run]bool{}
	for _, row := range slices.Concat(rows, w.sessions()) {
		for _, p := range row.Processes {
			w.ranBefore[run{p.ID, row.Agent, row.ID}] = true
		}
	}
}

// track follows one session, from the snapshot that finds it to the one that finds it stopped.
type track struct {
	now   discover.Session // as of the last snapshot, debounced
	since time.Time        // when it was found
	// stopping is the time of the first snapshot in which the session looked stopped although its process lives; zero: it does
	// not look so.
	stopping time.Time
	// replaced: no session of its process was known, and now known ones are, which have their own tracks.
	replaced bool
	// reported is the session as of its last event; nil: it had none.
	reported *discover.Session
}

// update applies the session's row of a snapshot. While a stop is not confirmed, the track stays as it is. switched are the
// processes that run another session since the last snapshot.
func (t *track) update(row discover.Session, table *proc.Table, switched map[proc.ID]bool, now time.Time) {
	lives, other := false, false
	for _, p := range t.now.Processes {
		if _, ok := table.Find(p.ID); ok {
			lives, other = true, other || switched[p.ID] && !t.now.Shared
		}
	}
	if t.stopping.IsZero() {
		t.stopping = now
	}
	// A headless process ends with its session, since it runs nothing else: the stop never counts while it lives.
	mayGoOn := lives && (!other || row.IsSubagent()) && (t.now.Headless() || now.Sub(t.stopping) < stopDebounce)
	if row.Status == discover.Stopped && mayGoOn {
		return
	}
	t.replaced = other && row.ID == "" && row.Status == discover.Stopped
	t.now, t.stopping = row, time.Time{}
}

// report records that the events of the session are reported. While it waits, the call that it waits on stays known, even if a snapshot
// does not have it.
func (t *track) report() {
	reported := t.now
	if was := t.reported; was != nil && reported.Status == discover.Waiting && reported.WaitingOn == nil {
		reported.WaitingOn = was.WaitingOn
	}
	t.reported = &reported
}

// hasSession reports whether the row is one of these sessions: by its ID and path or, where its process's session is not
// known, by the process.
func hasSession(row discover.Session, sessions []discover.Session) bool {
	for _, s := range sessions {
		switch {
		case s.Agent != row.Agent:
		case row.ID == "" && s.SharesProcess(row), row.ID != "" && s.ID == row.ID && (s.Path == row.Path || row.Path == ""):
			return true
		}
	}
	return false
}
