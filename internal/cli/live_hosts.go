package cli

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"agentctl/discover"
	"agentctl/discover/watch"
	"agentctl/internal/object"
	"agentctl/internal/remote"
)

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
	t.watchHosts(ctx, c.Factory, calls, here, c.Now)
	return nil
}

// watchHosts updates the table with what the calls print, each a stream of [output.SessionRows], until ctx ends. Of a host whose connection has ended
// nothing is known: its rows are gone, the table says why, and it is asked again. If a call is for this machine, the watcher of here follows it instead.
func (t *Table) watchHosts(ctx context.Context, f Factory, calls []HostCall, here NewWatcher, now func() time.Time) {
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
func (h *hostTable) watch(ctx context.Context, f Factory, i int) {
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
