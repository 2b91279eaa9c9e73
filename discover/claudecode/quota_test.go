package claudecode

import (
	"testing"
	"time"

	"agentctl/discover"
)

// A record has the newest notice of a rate limit or quota, with the time of its reset if that is stored.
func TestQuotas(t *testing.T) {
	for store, want := range map[string]discover.Quota{
		"25-limit-retry-2.1.329": {
			Name: "five_hour", Reached: true, Resets: time.Unix(1795306876, 0).UTC(),
			Text: "You've hit your 5-hour limit · resets 12:21am (UTC)", Time: time.Date(2026, 11, 21, 21, 21, 16, 918e6, time.UTC),
		},
		"26-limit-2.1.197": {
			Reached: true,
			Text:    "You've hit your session limit · resets 12:21am (UTC)", Time: time.Date(2026, 11, 21, 21, 21, 20, 311e6, time.UTC),
		},
	} {
		all, _ := records(t, home(t, store), discover.EntryFilter{}, discover.ReadOptions{Full: true})
		for _, r := range all {
			switch limited := r.ID[0] == '1'; {
			case !limited && r.Quotas != nil: // an overloaded server is no limit of one's own
				t.Errorf("%s: %s: %+v", store, r.ID, r.Quotas)
			case limited && (len(r.Quotas) != 1 || r.Quotas[0] != want):
				t.Errorf("%s: %+v, want %+v", store, r.Quotas, want)
			}
		}
	}
}
