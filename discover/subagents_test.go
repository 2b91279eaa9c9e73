package discover

import (
	"context"
	"strings"
	"testing"

	"agentctl/proc"
)

// growingAdapter is an adapter whose storage grows. It is asked for the sub-agents of known parents only.
type growingAdapter struct{ *testAdapter }

func (b growingAdapter) Entries(ctx context.Context, homes []Home, q EntryFilter) ([]Entry, error) {
	if q.Parents == nil || !q.Subagents {
		panic("entries of other parents are asked for")
	}
	return b.testAdapter.Entries(ctx, homes, q)
}

func names(sessions []Session) string {
	var out []string
	for _, s := range sessions {
		out = append(out, s.ID)
	}
	return strings.Join(out, " ")
}

func subagentOf(parent, id string) Record {
	r := record(Codex, id, 1)
	r.Parent, r.Sub = parent, true
	return r
}

// Sub-agents of sub-agents are found too, whatever the order they are stored in. Other sessions are not, and each is read once.
func TestSubagentTrackerFindsNewSubagents(t *testing.T) {
	var opened []string
	m := &testAdapter{agent: Codex, opened: &opened, records: []Record{
		subagentOf("kid", "grandkid"), subagentOf("other", "cousin"), record(Codex, "other", 1), subagentOf("eldest", "kid"), subagentOf("", "unrelated"),
	}}
	f := newScanner(func() *proc.Table { panic("no process is asked") }, growingAdapter{m}).TrackSubagents()
	sessions := []Session{{Record: new(record(Codex, "eldest", 1))}}
	for _, step := range []struct {
		stored Record
		want   string
	}{
		{Record{}, "eldest kid grandkid"},
		{Record{}, "eldest kid grandkid"},
		{subagentOf("unborn", "late"), "eldest kid grandkid"},
		{subagentOf("grandkid", "unborn"), "eldest kid grandkid unborn late"},
	} {
		if step.stored.ID != "" {
			m.records = append(m.records, step.stored)
		}
		var warnings []*Warning
		var err error
		if sessions, warnings, err = f.Update(t.Context(), sessions); names(sessions) != step.want || err != nil || warnings != nil {
			t.Errorf("%s: %s, %v, %v; want %s", step.stored.ID, names(sessions), warnings, err, step.want)
		}
	}
	if len(opened) != len(m.records) {
		t.Errorf("%d sessions were read %d times: %v", len(m.records), len(opened), opened)
	}
}

// A session that is not stored yet has no sub-agents, and none are searched.
func TestSubagentTrackerWithoutSubagents(t *testing.T) {
	nobody := []Session{{Record: &Record{Agent: Codex}}}
	f := newScanner(nil, growingAdapter{&testAdapter{agent: Codex}}).TrackSubagents()
	if all, warnings, err := f.Update(t.Context(), nobody); len(all) != 1 || warnings != nil || err != nil {
		t.Errorf("%v, %v, %v", all, warnings, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := f.Update(ctx, nobody); err == nil {
		t.Error("it does not end with its context")
	}
}
