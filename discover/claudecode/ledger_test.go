package claudecode

import (
	"errors"
	"strconv"
	"testing"

	"agentctl/discover"
)

// Calls beyond the bound leave the session's tokens unknown, with a warning; what is known is still replaced.
func TestCallsAreBounded(t *testing.T) {
	var g ledger
	for i := range maxCalls {
		g.put(call{message: strconv.Itoa(i)}, spent{usage: usage{In: 1}})
	}
	g.put(call{message: "0"}, spent{usage: usage{In: 2}})
	if sum, ok := g.sum(); g.full || !ok || sum.In != maxCalls+1 {
		t.Fatalf("sum %+v, full %v", sum, g.full)
	}
	g.put(call{message: "one more"}, spent{usage: usage{In: 9}})
	var r discover.Record
	err := (&totals{ledger: g}).sum(&r)
	if len(g.calls) != maxCalls || !errors.Is(err, errManyCalls) || r.Tokens != nil {
		t.Errorf("%d calls, %v, tokens %v", len(g.calls), err, r.Tokens)
	}
}
