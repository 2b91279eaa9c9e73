package discover

import (
	"testing"

	"agentctl/proc"
	"agentctl/tests/proctest"
)

// Of two copies that nothing stored tells apart, the one that a process runs is the session, once, whichever was listed first.
func TestACopyThatRunsIsInOneBatch(t *testing.T) {
	for _, live := range []string{"/p/a.db", "/p/b.db"} {
		var records []Record
		for _, path := range []string{"/p/a.db", "/p/b.db"} {
			r := record(OpenCode, "one", 5)
			r.Path, r.Created = path, at(1)
			records = append(records, r)
		}
		claim := exactClaim("one", 7)
		claim.Agent, claim.Path = OpenCode, live
		scanner := newScanner(func() *proc.Table { return proctest.NewTable(fakeProcess(7, "now", 'S')) },
			testAdapter{agent: OpenCode, claims: []Claim{claim}, records: records})
		var got []Session
		if _, err := scanner.ListBatches(t.Context(), BatchFilter{}, func(r Result) bool {
			got = append(got, r.Sessions...)
			return true
		}); err != nil {
			t.Error(err)
		}
		if len(got) != 1 || got[0].Path != live || !got[0].Status.Live() {
			t.Errorf("%s is live: %+v", live, got)
		}
	}
}
