package opencode

import (
	"testing"

	"agentctl/discover"
)

// A cost of 0 is that of a model without a price: it is unknown if there are tokens.
func TestCostOfModelWithoutPriceIsUnknown(t *testing.T) {
	tokens := sumTokens(discover.Tokens{In: 5, Out: 2})
	for _, tc := range []struct {
		usage        usage
		tokens, cost bool
	}{
		{usage{}, false, false},
		{usage{Tokens: tokens}, true, false},
		{usage{Tokens: tokens, Cost: 0.25}, true, true},
	} {
		s := &session{used: tc.usage}
		if r := s.record(); (r.Tokens != nil) != tc.tokens || (r.Cost != nil) != tc.cost {
			t.Errorf("%+v: tokens %v, cost %v", tc.usage, r.Tokens, r.Cost)
		}
	}
}
