package transcript

import (
	"errors"
	"strconv"
	"testing"
)

// Calls beyond the bound leave the session's tokens unknown, with an error. A call that is known is still replaced.
func TestCallsAreBounded(t *testing.T) {
	var g callUsage
	for i := range maxCalls {
		g.add(CallID{message: strconv.Itoa(i)}, timedUsage{Usage: Usage{In: 1}})
	}
	g.add(CallID{message: "0"}, timedUsage{Usage: Usage{In: 2}})
	if sum, ok := g.sum(); g.overflow || !ok || sum.In != maxCalls+1 {
		t.Fatalf("sum %+v, full %v", sum, g.overflow)
	}
	g.add(CallID{message: "one more"}, timedUsage{Usage: Usage{In: 9}})
	tokens, err := (&Totals{calls: g}).Tokens()
	if len(g.calls) != maxCalls || !errors.Is(err, ErrTooManyCalls) || tokens != nil {
		t.Errorf("%d calls, %v, tokens %v", len(g.calls), err, tokens)
	}
}
