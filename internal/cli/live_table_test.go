package cli

import (
	"strings"
	"testing"
	"time"

	"agentctl/discover"
)

// tell is what a watch is told at a time, shows what it shows then.
func (w *Table) tell(at time.Time, rows ...discover.Session) {
	w.update(0, tableSource{sessions: SessionObjects(rows)}, at)
}

func (w *Table) shows(at time.Time) string {
	var out []string
	list, _, _ := w.Sessions(at)
	for _, s := range list {
		out = append(out, s.Name()+":"+s.Status)
	}
	return strings.Join(out, " ")
}

// What stops while it is watched stays for ten minutes, unless it lives again; the first rows are those that need the
// user.
func TestTable(t *testing.T) {
	row := func(id string, status discover.Status, age time.Duration) discover.Session {
		return discover.Session{Record: &discover.Record{Agent: "codex", ID: id, Updated: Now().Add(-age)}, Status: status}
	}
	w := NewTable()
	if _, _, known := w.Sessions(Now()); known {
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
		at := Now().Add(step.after)
		w.tell(at, step.rows...)
		if got := w.shows(at); got != step.want {
			t.Errorf("after %s: %q, want %q", step.after, got, step.want)
		}
		if len(w.Changed.c) != 1 {
			t.Error("nobody is told")
		}
	}
}
