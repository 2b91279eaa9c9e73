// Package live keeps the rows of a table that a watcher updates while a screen shows it: what list --watch and top share.
package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"agentctl/discover"
	"agentctl/discover/watch"
	"agentctl/internal/object"
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
func Terminal(f Factory) (in, out *os.File, ok bool) {
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
func (t *Table) Finish(f Factory, shown error) error {
	if err := t.Wait(); shown == nil && !errors.Is(err, context.Canceled) {
		shown = err
	}
	if shown != nil {
		return shown
	}
	return f.ReportWarnings(t.warnings)
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
