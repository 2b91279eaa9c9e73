package cli

import (
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

// Table is the content of the table. The watcher updates it, and the screen reads it.
type Table struct {
	// Changed has a value when there is something new. It is closed when the watcher has ended.
	Changed chan struct{}

	mu      sync.Mutex
	updates int
	// last is the last result of this machine, sessions and warnings are those of all machines.
	last     discover.Result
	sessions []object.Session
	warnings []*discover.Warning
	// ended are the sessions that have stopped since the start.
	ended map[key]object.Session

	running  sync.WaitGroup
	err      error
	panicked any
}

// key tells the sessions of all machines apart.
type key struct{ host, agent, id, path string }

func liveKeyOf(s *object.Session) key {
	k := key{host: s.Host, agent: s.Adapter, path: s.Path}
	if s.ID != nil {
		k.id = *s.ID
	}
	return k
}

// NewTable returns a table without a row.
func NewTable() *Table {
	return &Table{ended: map[key]object.Session{}, Changed: make(chan struct{}, 1)}
}

// Terminal returns the terminal that a table can be drawn on; false if there is none.
func Terminal(f Env) (in, out *os.File, ok bool) {
	in, typed := f.Stdin.(*os.File)
	out, shown := f.Stdout.(*os.File)
	return in, out, f.Terminal && typed && shown && f.Getenv("TERM") != "dumb"
}

// Wait waits until the watcher has ended and returns its error. It repeats its panic.
func (t *Table) Wait() error {
	t.running.Wait()
	if t.panicked != nil {
		panic(t.panicked)
	}
	return t.err
}

// Finish waits until the watcher has ended. It returns shown, the error of the screen, or else that of the watcher, or of what could
// not be read last.
func (t *Table) Finish(f Env, shown error) error {
	if err := t.Wait(); shown == nil && !errors.Is(err, context.Canceled) {
		shown = err
	}
	if shown != nil && !errors.Is(shown, terminal.ErrInterrupted) {
		return shown
	}
	partial := f.ReportWarnings(t.warnings)
	if shown != nil {
		return ExitWith(ExitInterrupted)
	}
	return partial
}

// Watch updates the table with the results of a watcher, in a goroutine of its own, until ctx ends.
func (t *Table) Watch(ctx context.Context, w *watch.Watcher, now func() time.Time) {
	t.run(func() error {
		return EachResult(ctx, w, func(r discover.Result) (bool, error) {
			t.update(r, SessionObjects(r.Sessions), r.Warnings, now())
			return true, nil
		})
	})
}

// run calls a function in a goroutine of its own. Nothing changes any more after it has ended.
func (t *Table) run(watch func() error) {
	t.running.Go(func() {
		defer close(t.Changed)
		defer func() {
			if p := recover(); p != nil {
				t.panicked = fmt.Sprintf("%v\n%s", p, debug.Stack()) // it is reported after the terminal is restored
			}
		}()
		t.err = watch()
	})
}

func (t *Table) update(last discover.Result, sessions []object.Session, warnings []*discover.Warning, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.updates, t.last, t.sessions, t.warnings = t.updates+1, last, sessions, warnings
	maps.DeleteFunc(t.ended, func(_ key, s object.Session) bool { return !s.StoppedRecently(now) })
	for _, s := range sessions {
		if delete(t.ended, liveKeyOf(&s)); s.ID != nil && s.StoppedRecently(now) {
			t.ended[liveKeyOf(&s)] = s
		}
	}
	select {
	case t.Changed <- struct{}{}:
	default: // that there is something new is known already
	}
}

// Last returns the last result of this machine, and how many updates there were.
func (t *Table) Last() (last discover.Result, updates int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last, t.updates
}

// Sessions returns the sessions to show, those that need the user first, and the warnings. known is false before the
// first result.
func (t *Table) Sessions(now time.Time) (list []object.Session, warnings []string, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	list = slices.Clone(t.sessions)
	for key, s := range t.ended {
		listed := slices.ContainsFunc(list, func(o object.Session) bool { return liveKeyOf(&o) == key })
		if !listed && s.StoppedRecently(now) {
			list = append(list, s)
		}
	}
	object.SortByAttention(list, now)
	for _, warning := range t.warnings {
		warnings = append(warnings, warning.Error())
	}
	return list, warnings, t.updates > 0
}

const (
	// firstRetry is how long after the end of its connection a host is asked again; each further time in vain doubles that, up to lastRetry: a machine
	// that sleeps is seen soon after it wakes, and one that is away costs little.
	firstRetry = time.Second
	lastRetry  = 30 * time.Second
)

// hostRows is what one host has shown.
type hostRows struct {
	sessions []object.Session
	// warnings are what it warns of, and why it shows nothing.
	warnings []string
}

// Follow has the table updated by this machine or, if the flags name hosts, by them. ask makes the call of a host.
func (t *Table) Follow(ctx context.Context, c *Call, here NewWatcher, ask func(HostCall) HostCall) error {
	if !c.OnHosts() {
		w, err := here()
		if err == nil {
			t.Watch(ctx, w, c.Now)
		}
		return err
	}
	calls, err := c.HostCalls(c.Config, nil, nil, false)
	if err != nil {
		return err
	}
	for i := range calls {
		calls[i] = ask(calls[i])
	}
	t.watchHosts(ctx, c.Env, calls, here, c.Now)
	return nil
}

// watchHosts updates the table with what the calls print, each a stream of [output.SessionRows], until ctx ends. Of a host whose connection has ended
// nothing is known: its rows are gone, the table says why, and it is asked again. If a call is for this machine, the watcher of here follows it instead.
func (t *Table) watchHosts(ctx context.Context, f Env, calls []HostCall, here NewWatcher, now func() time.Time) {
	t.run(func() error {
		h := &hostTable{table: t, now: now, calls: calls, newWatcher: here, rows: make([]hostRows, len(calls))}
		var watched sync.WaitGroup
		for i := range calls {
			h.rows[i].warnings = []string{"not known yet"}
			watched.Go(func() { h.watch(ctx, f, i) })
		}
		h.set(0, func(*hostRows) {})
		watched.Wait()
		return ctx.Err()
	})
}

// NewWatcher makes the watcher of this machine's sessions, or says what is wrong with their selection.
type NewWatcher func() (*watch.Watcher, error)

// hostTable has the rows of all hosts.
type hostTable struct {
	table      *Table
	now        func() time.Time
	calls      []HostCall
	newWatcher NewWatcher

	mu   sync.Mutex
	rows []hostRows
	// here is the last result of this machine.
	here discover.Result
}

// set changes the rows of a host, and shows those of all hosts.
func (h *hostTable) set(i int, change func(*hostRows)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change(&h.rows[i])
	var sessions []object.Session
	var warnings []*discover.Warning
	for i, rows := range h.rows {
		sessions = append(sessions, rows.sessions...)
		for _, text := range rows.warnings {
			warnings = append(warnings, &discover.Warning{Path: h.calls[i].Target.Name, Err: errors.New(text)})
		}
	}
	h.table.update(h.here, sessions, warnings, h.now())
}

// watch asks a host until ctx ends.
func (h *hostTable) watch(ctx context.Context, f Env, i int) {
	name := h.calls[i].Target.Name
	for pause := firstRetry; ctx.Err() == nil; pause = min(2*pause, lastRetry) {
		var warnings []string
		reported := f.WithReports(func(text string) {
			h.mu.Lock()
			defer h.mu.Unlock()
			warnings = append(warnings, strings.TrimPrefix(text, name+": "))
		})
		var err error
		if h.calls[i].Target.IsLocal() {
			err = h.watchHere(ctx, i)
			warnings = []string{ErrorText(err)}
		} else {
			err = EachHost(ctx, reported, h.calls[i:i+1], func(rows object.SessionRows) error {
				pause = firstRetry
				h.set(i, func(r *hostRows) { r.sessions, r.warnings = rows.Sessions, slices.Clone(warnings) })
				return nil
			})
		}
		if ctx.Err() != nil {
			return
		}
		if err == nil || len(warnings) == 0 {
			warnings = append(warnings, "it has ended")
		}
		h.set(i, func(r *hostRows) { r.sessions, r.warnings = nil, warnings })
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// watchHere follows this machine until ctx ends. Its result has the process table, which no other host can send.
func (h *hostTable) watchHere(ctx context.Context, i int) error {
	w, err := h.newWatcher()
	if err != nil {
		return err
	}
	return EachResult(ctx, w, func(r discover.Result) (bool, error) {
		rows := object.SessionRows{Sessions: SessionObjects(r.Sessions)}
		rows.SetHost(remote.Local)
		var warnings []string
		for _, w := range r.Warnings {
			warnings = append(warnings, w.Error())
		}
		h.set(i, func(of *hostRows) { h.here, of.sessions, of.warnings = r, rows.Sessions, warnings })
		return true, nil
	})
}
