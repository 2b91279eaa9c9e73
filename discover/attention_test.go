package discover

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// Sessions that need the user come first.
func TestSortByAttention(t *testing.T) {
	now := at(1000)
	s := func(id string, status Status, minutes int) Session {
		return Session{Record: &Record{ID: id, Agent: Codex, Updated: now.Add(-time.Duration(minutes) * time.Minute)}, Status: status}
	}
	with := func(s Session, outcome Outcome, failure string) Session {
		s.Outcome, s.Error = outcome, failure
		return s
	}
	begun := func(s Session, minutes int) Session {
		s.Created = now.Add(-time.Duration(minutes) * time.Minute)
		return s
	}
	want := []Session{
		s("waits-long", Waiting, 90), s("waits", Waiting, 1),
		with(s("idle-failed", Idle, 1), "", "overloaded"), with(s("died", Stopped, 2), Interrupted, ""), with(s("failed", Stopped, 3), Failed, "x"),
		s("just-done", Idle, 4), with(s("just-stopped", Stopped, 5), Completed, ""),
		begun(s("young", Running, 3), 5), begun(s("old", Running, 1), 50), s("cannot-be-told", Unknown, 0),
		s("idle", Idle, 11), with(s("idle-failed-long-ago", Idle, 600), "", "x"), with(s("gone", Stopped, 12), Failed, "x"),
	}
	got := append([]Session(nil), want...)
	for range 100 {
		rand.Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
		SortByAttention(got, now)
		if idsAndStatuses(got) != idsAndStatuses(want) {
			t.Fatalf("got  %s\nwant %s", strings.ReplaceAll(idsAndStatuses(got), " ", "\n     "), idsAndStatuses(want))
		}
	}
	if !want[3].StoppedRecently(now) || want[0].StoppedRecently(now) || want[len(want)-1].StoppedRecently(now) {
		t.Error("news is what has stopped within ten minutes")
	}
}
