package opencode

import (
	"math"
	"strings"
	"testing"

	"agentctl/discover"
)

// The answers of each session, sub-agents' sessions included, add up to what a plain query finds in the store.
func TestAnswersAreThoseOfTheStore(t *testing.T) {
	compared := 0
	for name, unpack := range captured(t) {
		if strings.HasPrefix(name, "json-0.5") || name == "raw-tui-permission-pending" {
			continue
		}
		dir := unpack()
		own, _ := spentIn(t, dir)
		entries, err := (Adapter{}).Entries(t.Context(), homeOf(dir), discover.EntryFilter{Subagents: true})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]spent{}
		for u, err := range (Adapter{}).ReadUsage(t.Context(), entries) {
			if err != nil {
				t.Fatal(err)
			}
			var sum spent
			for _, a := range u.Usage {
				sum.add(spent{a.Tokens.In, a.Tokens.Out - a.Tokens.Reasoning, a.Tokens.Total, a.Cost})
				if a.Time.IsZero() || a.Model == "" || !a.CostKnown {
					t.Errorf("%s: %s: %+v", name, u.ID, a)
				}
			}
			got[u.ID] = sum
		}
		for id, want := range own {
			if compared++; got[id].in != want.in || got[id].out != want.out || got[id].total != want.total || math.Abs(got[id].cost-want.cost) > 1e-9 {
				t.Errorf("%s: %s: the answers have %+v, the store %+v", name, id, got[id], want)
			}
		}
	}
	if compared < 10 {
		t.Errorf("%d sessions were compared", compared)
	}
}
