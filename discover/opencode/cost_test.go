package opencode

import (
	"testing"

	"agentctl/discover"
	"agentctl/discover/opencode/transcript"
)

// A cost of 0 is that of a model without a price: it is unknown if there are tokens.
func TestCostOfModelWithoutPriceIsUnknown(t *testing.T) {
	tokens := transcript.SumTokens(discover.Tokens{In: 5, Out: 2})
	for _, tc := range []struct {
		usage        transcript.Usage
		tokens, cost bool
	}{
		{transcript.Usage{}, false, false},
		{transcript.Usage{Tokens: tokens}, true, false},
		{transcript.Usage{Tokens: tokens, Cost: 0.25}, true, true},
	} {
		s := &session{used: tc.usage}
		if r := s.record(); (r.Tokens != nil) != tc.tokens || (r.Cost != nil) != tc.cost {
			t.Errorf("%+v: tokens %v, cost %v", tc.usage, r.Tokens, r.Cost)
		}
	}
}
