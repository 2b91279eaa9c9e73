package discover

import (
	"context"
	"strings"
	"testing"

	"agentctl/proc"
)

// begun is a store in which more is found later.
type begun struct{ *memory }

func (b begun) Entries(ctx context.Context, homes []Home, q EntryFilter) ([]Entry, error) {
	if q.Parents == nil || !q.Subagents {
		panic("a family asks for its own only")
	}
	return b.memory.Entries(ctx, homes, q)
}

func names(sessions []Session) string {
	var out []string
	for _, s := range sessions {
		out = append(out, s.ID)
	}
	return strings.Join(out, " ")
}

func under(parent, id string) Record {
	r := record(Codex, id, 1)
	r.Parent, r.Sub = parent, true
	return r
}

// Sub-agents of sub-agents too, whatever the order they are stored in; nobody else's, and each is read once.
func TestSubagentTrackerFindsNewSubagents(t *testing.T) {
	var opened []string
	m := &memory{agent: Codex, opened: &opened, records: []Record{
		under("kid", "grandkid"), under("other", "cousin"), record(Codex, "other", 1), under("eldest", "kid"), under("", "foundling"),
	}}
	f := worldOf(func() *proc.Table { panic("no process is asked") }, begun{m}).TrackSubagents()
	sessions := []Session{{Record: new(record(Codex, "eldest", 1))}}
	for _, step := range []struct {
		stored Record
		want   string
	}{
		{Record{}, "eldest kid grandkid"},
		{Record{}, "eldest kid grandkid"},
		{under("unborn", "late"), "eldest kid grandkid"},
		{under("grandkid", "unborn"), "eldest kid grandkid unborn late"},
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

// What is not stored yet has no sub-agents, and is not looked for.
func TestSubagentTrackerWithoutSubagents(t *testing.T) {
	nobody := []Session{{Record: &Record{Agent: Codex}}}
	f := worldOf(nil, begun{&memory{agent: Codex}}).TrackSubagents()
	if all, warnings, err := f.Update(t.Context(), nobody); len(all) != 1 || warnings != nil || err != nil {
		t.Errorf("%v, %v, %v", all, warnings, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := f.Update(ctx, nobody); err == nil {
		t.Error("it does not end with its context")
	}
}
