package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"agentctl/discover"
	"agentctl/discover/watch"
	"agentctl/internal/object"
	"agentctl/internal/remote"
	"agentctl/internal/terminal"
)

// Table is the content of a table of sessions that is updated. Watchers update it, and the screen reads it.
type Table struct {
	// Changed has a value when there is something new to draw.
	Changed chan struct{}
	// stop ends the screen.
	stop context.CancelFunc
	err  error // of the watcher

	running  sync.WaitGroup
	failed   sync.Mutex
	panicked any

	mu      sync.Mutex
	updates int
	sources []tableSource
	// ended are the sessions that have stopped since the start.
	ended map[rowKey]object.Session
}

// tableSource is what one machine has shown.
type tableSource struct {
	sessions []object.Session
	// warnings are what it warns of, or why it shows nothing.
	warnings []*discover.Warning
	// last is the result that the sessions are of. No other machine can send it.
	last discover.Result
}

// NewTable returns a table without a row, for one machine. stop ends the screen that shows it.
func NewTable(stop context.CancelFunc) *Table {
	return &Table{Changed: make(chan struct{}, 1), stop: stop, ended: map[rowKey]object.Session{}, sources: make([]tableSource, 1)}
}

// rowKey identifies a session of any machine over time. Sessions without an ID are told apart by their process.
type rowKey struct {
	host            string // "" for this machine
	agent, id, path string
	process         string
}

func rowKeyOf(s *object.Session) rowKey {
	k := rowKey{agent: s.Adapter, path: s.Path}
	if !isLocal(s.Host) {
		k.host = s.Host
	}
	if s.ID != nil {
		k.id = *s.ID
	} else {
		k.process = fmt.Sprint(s.PID, s.ProcessStartedAt)
	}
	return k
}

// isLocal reports whether the sessions of a host are those of this machine: the pids and directories of another machine mean nothing on this one.
func isLocal(host string) bool { return host == "" || host == remote.Local }

// Terminal returns the terminal that a table can be drawn on; false if there is none.
func Terminal(env Env) (in, out *os.File, ok bool) {
	in, typed := env.Stdin.(*os.File)
	out, shown := env.Stdout.(*os.File)
	return in, out, env.Terminal && typed && shown && env.Getenv("TERM") != "dumb"
}

// Finish waits until all tasks have ended. It returns the error of the watcher, if that has ended the screen, or else shown, the error of
// the screen, or that of what could not be read last.
func (t *Table) Finish(env Env, shown error) error {
	t.wait()
	if !errors.Is(t.err, context.Canceled) && !errors.Is(shown, terminal.ErrInterrupted) {
		shown = cmp.Or(t.err, shown)
	}
	if shown != nil && !errors.Is(shown, terminal.ErrInterrupted) {
		return shown
	}
	partial := env.ReportWarnings(t.warnings())
	if shown != nil {
		return ExitWith(ExitInterrupted)
	}
	return partial
}

// run calls a function as a task, without which the screen ends.
func (t *Table) run(watch func() error) {
	t.start(func() {
		defer t.stop()
		t.err = watch()
	})
}

// update sets what one machine has shown.
func (t *Table) update(i int, shown tableSource, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sources[i], t.updates = shown, t.updates+1
	maps.DeleteFunc(t.ended, func(_ rowKey, s object.Session) bool { return !s.StoppedRecently(now) })
	for _, s := range shown.sessions {
		if delete(t.ended, rowKeyOf(&s)); s.ID != nil && s.StoppedRecently(now) {
			t.ended[rowKeyOf(&s)] = s
		}
	}
	t.notify()
}

// Last returns the last result of this machine, and how many updates there were.
func (t *Table) Last() (last discover.Result, updates int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, source := range t.sources {
		if source.last.Table != nil {
			last = source.last
		}
	}
	return last, t.updates
}

// warnings returns those of all machines.
func (t *Table) warnings() (all []*discover.Warning) {
	for _, source := range t.sources {
		all = append(all, source.warnings...)
	}
	return all
}

// Sessions returns the sessions to show, those that need the user first, and the warnings. known is false before the
// first result.
func (t *Table) Sessions(now time.Time) (list []object.Session, warnings []string, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, source := range t.sources {
		list = append(list, source.sessions...)
	}
	for key, s := range t.ended {
		listed := slices.ContainsFunc(list, func(o object.Session) bool { return rowKeyOf(&o) == key })
		if !listed && s.StoppedRecently(now) {
			list = append(list, s)
		}
	}
	object.SortByAttention(list, now)
	return list, convert(t.warnings(), (*discover.Warning).Error), t.updates > 0
}

const (
	// firstRetry is the pause before a host is asked again after its connection has ended. Each failed attempt doubles it, up to lastRetry: a machine
	// that sleeps is seen soon after it wakes, and one that is away costs little.
	firstRetry = time.Second
	lastRetry  = 30 * time.Second
)

// NewWatcher makes the watcher of this machine's sessions, or says what is wrong with their selection.
type NewWatcher func() (*watch.Watcher, error)

// Follow has the table updated, until ctx ends: by this machine or, if the flags name hosts, by them. ask makes the call of a host, which prints
// [object.SessionRows].
func (t *Table) Follow(ctx context.Context, c *Call, local NewWatcher, ask func(HostCall) HostCall) error {
	calls, err := c.HostCalls(nil, nil, false)
	if err != nil {
		return err
	}
	if calls == nil {
		w, err := local()
		if err == nil {
			t.run(func() error { return t.watchLocal(ctx, c, w, 0, "") })
		}
		return err
	}
	t.sources = make([]tableSource, len(calls))
	t.run(func() error {
		var watched sync.WaitGroup
		for i, call := range calls {
			t.update(i, tableSource{warnings: hostWarnings(call, "not known yet")}, c.Now())
			watched.Go(func() { t.watchHost(ctx, c, i, ask(call), local) })
		}
		watched.Wait()
		return ctx.Err()
	})
	return nil
}

// watchLocal follows this machine until ctx ends. host is its name among several hosts.
func (t *Table) watchLocal(ctx context.Context, c *Call, w *watch.Watcher, i int, host string) error {
	return EachResult(ctx, w, func(r discover.Result) (bool, error) {
		rows := object.SessionRows{Sessions: SessionObjects(r.Sessions)}
		warnings := r.Warnings
		if rows.SetHost(host); host != "" {
			warnings = convert(r.Warnings, func(w *discover.Warning) *discover.Warning { return &discover.Warning{Path: host, Err: w} })
		}
		t.update(i, tableSource{rows.Sessions, warnings, r}, c.Now())
		return true, nil
	})
}

// watchHost follows a host until ctx ends. When a connection ends, the table drops its rows, says why, and asks it again.
func (t *Table) watchHost(ctx context.Context, c *Call, i int, call HostCall, local NewWatcher) {
	for pause := firstRetry; ctx.Err() == nil; pause = min(2*pause, lastRetry) {
		var mu sync.Mutex
		var warnings []string
		reported := c.WithReports(func(text string) {
			mu.Lock()
			defer mu.Unlock()
			warnings = append(warnings, strings.TrimPrefix(text, call.Target.Name+": "))
		})
		var err error
		if call.Target.IsLocal() {
			var w *watch.Watcher
			if w, err = local(); err == nil {
				err = t.watchLocal(ctx, c, w, i, remote.Local)
			}
			warnings = []string{ErrorText(err)}
		} else {
			err = EachHost(ctx, reported, []HostCall{call}, func(rows object.SessionRows) error {
				pause = firstRetry
				mu.Lock()
				defer mu.Unlock()
				t.update(i, tableSource{sessions: rows.Sessions, warnings: hostWarnings(call, warnings...)}, c.Now())
				return nil
			})
		}
		if ctx.Err() != nil {
			return
		}
		if err == nil || len(warnings) == 0 {
			warnings = append(warnings, "it has ended")
		}
		t.update(i, tableSource{warnings: hostWarnings(call, warnings...)}, c.Now())
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

func hostWarnings(call HostCall, texts ...string) []*discover.Warning {
	return convert(texts, func(text string) *discover.Warning {
		return &discover.Warning{Path: call.Target.Name, Err: errors.New(text)}
	})
}

// start runs a function beside the screen. If it panics, the screen ends, and the panic is repeated once the terminal is restored.
func (t *Table) start(do func()) {
	t.running.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				t.failed.Lock()
				t.panicked = fmt.Sprintf("%v\n%s", p, debug.Stack())
				t.failed.Unlock()
				t.stop()
			}
		}()
		do()
	})
}

// wait waits until all have ended. It repeats a panic.
func (t *Table) wait() {
	t.running.Wait()
	if t.panicked != nil {
		panic(t.panicked)
	}
}

// notify asks for a frame.
func (t *Table) notify() {
	select {
	case t.Changed <- struct{}{}:
	default: // one is asked for already
	}
}
