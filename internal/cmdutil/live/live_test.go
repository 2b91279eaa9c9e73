package live

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/discover/watch"
	"agentctl/internal/cmdutil"
	"agentctl/internal/host"
	"agentctl/tests/cmdtest"
)

// tell is what a watch is told at a time, shows what it shows then.
func (w *Table) tell(at time.Time, rows ...discover.Session) {
	w.update(discover.Result{Sessions: rows}, at)
}

func (w *Table) shows(at time.Time) string {
	var out []string
	list, _, _ := w.Sessions(at)
	for _, s := range list {
		out = append(out, s.ID+":"+string(s.Status))
	}
	return strings.Join(out, " ")
}

// What stops while it is watched stays for ten minutes, unless it lives again; the first rows are those that need the
// user.
func TestTable(t *testing.T) {
	row := func(id string, status discover.Status, age time.Duration) discover.Session {
		return discover.Session{Record: &discover.Record{Agent: "codex", ID: id, Updated: cmdtest.Now().Add(-age)}, Status: status}
	}
	w := NewTable()
	if _, _, known := w.Sessions(cmdtest.Now()); known {
		t.Error("there is an answer before the first look")
	}
	for _, step := range []struct {
		after time.Duration
		rows  []discover.Session
		want  string
	}{
		{0, []discover.Session{row("a", discover.Running, 0), row("b", discover.Waiting, time.Hour)}, "b:waiting a:running"},
		{time.Second, []discover.Session{row("a", discover.Stopped, 0), row("b", discover.Waiting, time.Hour)}, "b:waiting a:stopped"},
		{2 * time.Second, []discover.Session{row("b", discover.Running, 0)}, "a:stopped b:running"},
		{3 * time.Second, []discover.Session{row("b", discover.Running, 0), row("a", discover.Idle, 0)}, "a:idle b:running"},
		{4 * time.Second, []discover.Session{row("b", discover.Running, 0)}, "b:running"},
		{5 * time.Second, []discover.Session{row("b", discover.Stopped, 0)}, "b:stopped"},
		{6 * time.Second, nil, "b:stopped"},
		{11 * time.Minute, nil, ""},
	} {
		at := cmdtest.Now().Add(step.after)
		w.tell(at, step.rows...)
		if got := w.shows(at); got != step.want {
			t.Errorf("after %s: %q, want %q", step.after, got, step.want)
		}
		if len(w.Changed) != 1 {
			t.Error("nobody is told")
		}
	}
}

// However the watching ends, that is known once nothing changes any more; a panic goes on where the terminal is given back.
func TestTableEnds(t *testing.T) {
	failed := errors.New("failed")
	w := NewTable()
	w.run(func() error { return failed })
	if _, more := <-w.Changed; more || !errors.Is(w.Wait(), failed) {
		t.Errorf("%v", w.err)
	}
	w = NewTable()
	w.run(func() error { panic("in the midst") })
	<-w.Changed
	defer func() {
		if text, _ := recover().(string); !strings.HasPrefix(text, "in the midst\n") || !strings.Contains(text, "TestTableEnds") {
			t.Errorf("%q", text)
		}
	}()
	_ = w.Wait()
}

// One session in the stores of two machines is two rows.
func TestTableOfHosts(t *testing.T) {
	w := NewTable()
	row := func(host string, status discover.Status) discover.Session {
		return discover.Session{Record: &discover.Record{Agent: "codex", ID: "a", Updated: cmdtest.Now()}, Status: status, Host: host}
	}
	w.tell(cmdtest.Now(), row("x", discover.Running), row("y", discover.Stopped))
	w.tell(cmdtest.Now(), row("x", discover.Running))
	if got := w.shows(cmdtest.Now()); got != "a:stopped a:running" {
		t.Error(got)
	}
}

// This machine as one of the hosts is followed in this process: the result has its process table. What is wrong with the selection is a warning.
func TestWatchHere(t *testing.T) {
	f, _ := cmdtest.New(t)
	c, err := f.NewCall("list", &cmdutil.CommonFlags{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	calls := []cmdutil.HostCall{{Target: host.Target{Name: host.Local}}}
	shown := func(newWatcher NewWatcher, done func(discover.Result) bool) discover.Result {
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		w := NewTable()
		w.watchHosts(ctx, f, calls, newWatcher, f.Now)
		for range w.Changed {
			if last, _ := w.Last(); done(last) {
				stop()
			}
		}
		if err := w.Wait(); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		last, _ := w.Last()
		return last
	}
	r := shown(func() (*watch.Watcher, error) {
		return watch.NewFilterWatcher(c.Scanner, discover.SessionFilter{}), nil
	}, func(r discover.Result) bool { return r.Table != nil })
	if len(r.Sessions) == 0 || slices.ContainsFunc(r.Sessions, func(s discover.Session) bool {
		return s.Host != host.Local || len(s.Processes) == 0 || s.Processes[0].ID.Birth == ""
	}) {
		t.Errorf("%+v", r.Sessions)
	}
	r = shown(func() (*watch.Watcher, error) { return nil, errors.New("no such directory") }, func(r discover.Result) bool {
		return len(r.Warnings) == 1 && r.Warnings[0].Error() == "local: no such directory"
	})
	if len(r.Sessions) > 0 || r.Table != nil {
		t.Errorf("%+v", r)
	}
}
