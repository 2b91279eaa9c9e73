package list

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

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/discover/watch"
	"agentctl/internal/cmdutil"
	"agentctl/internal/output"
	"agentctl/internal/terminal"
)

// runWatch is list --watch.
func runWatch(f cmdutil.Factory, c *cli.Context, o *options) error {
	if err := only(c, "watch", "all", "since", "adapter", "status", "cwd", "repo", "group", "n", "children", "no-color"); err != nil {
		return err
	}
	in, typed := f.Stdin.(*os.File)
	out, shown := f.Stdout.(*os.File)
	if !f.Terminal || !typed || !shown || f.Getenv("TERM") == "dumb" {
		return cmdutil.NewUsageError("--watch needs a terminal that can be redrawn", "agentctl events prints what changes, line by line")
	}
	call, err := f.NewCall("list", &o.CommonFlags, nil)
	if err != nil {
		return err
	}
	filter, err := selection(call, o)
	if err != nil {
		return err
	}
	w := newTableState(filter.Limit)
	filter.Limit = 0 // who needs the user is not always the newest
	ctx, stop := context.WithCancel(c.Context)
	defer stop()
	w.run(func() error {
		return cmdutil.EachResult(ctx, watch.NewFilterWatcher(call.Scanner, filter), func(r discover.Result) (bool, error) {
			w.update(r, f.Now())
			return true, nil
		})
	})
	screen := terminal.Screen{In: in, Out: out, Changed: w.changed, Frame: func(columns, rows int) []string {
		style := call.Style
		style.Width, style.Now = columns, f.Now()
		sessions, warnings, known := w.sessions(style.Now)
		if !known {
			return []string{"reading …"}
		}
		return output.Frame(sessions, warnings, style, rows)
	}}
	err = screen.Show(ctx)
	stop()
	if failed := w.wait(); err == nil && !errors.Is(failed, context.Canceled) {
		err = failed
	}
	if err != nil {
		return err
	}
	return f.ReportWarnings(w.last.Warnings)
}

// tableState is the content of the table, which the watcher updates and the screen reads.
type tableState struct {
	limit   int
	changed chan struct{}

	mu    sync.Mutex
	known bool
	last  discover.Result
	// ended are the sessions that have stopped since the start.
	ended map[discover.Key]discover.Session

	running  sync.WaitGroup
	err      error
	panicked any
}

func newTableState(limit int) *tableState {
	return &tableState{limit: limit, ended: map[discover.Key]discover.Session{}, changed: make(chan struct{}, 1)}
}

// run calls watch in a goroutine of its own. Nothing changes any more after it has ended.
func (w *tableState) run(watch func() error) {
	w.running.Go(func() {
		defer close(w.changed)
		defer func() {
			if p := recover(); p != nil {
				w.panicked = fmt.Sprintf("%v\n%s", p, debug.Stack()) // it is reported after the terminal is restored
			}
		}()
		w.err = watch()
	})
}

// wait waits until watch has ended and returns its error.
func (w *tableState) wait() error {
	w.running.Wait()
	if w.panicked != nil {
		panic(w.panicked)
	}
	return w.err
}

// update takes a new result.
func (w *tableState) update(r discover.Result, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.known, w.last = true, r
	maps.DeleteFunc(w.ended, func(_ discover.Key, s discover.Session) bool { return !s.StoppedRecently(now) })
	for _, s := range r.Sessions {
		if delete(w.ended, s.Key()); s.ID != "" && s.StoppedRecently(now) {
			w.ended[s.Key()] = s
		}
	}
	select {
	case w.changed <- struct{}{}:
	default: // that there is something new is known already
	}
}

// sessions returns the sessions to show, those that need the user first, and the warnings. known is false before the
// first result.
func (w *tableState) sessions(now time.Time) (list []discover.Session, warnings []string, known bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	list = slices.Clone(w.last.Sessions)
	for key, s := range w.ended {
		listed := slices.ContainsFunc(list, func(o discover.Session) bool { return o.Key() == key })
		if !listed && s.StoppedRecently(now) {
			list = append(list, s)
		}
	}
	discover.SortByAttention(list, now)
	if w.limit > 0 && len(list) > w.limit {
		list = list[:w.limit]
	}
	for _, warning := range w.last.Warnings {
		warnings = append(warnings, warning.Error())
	}
	return list, warnings, w.known
}
