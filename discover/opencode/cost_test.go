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
		s := &session{}
		s.setUsage(tc.usage)
		if (s.Tokens != nil) != tc.tokens || (s.Cost != nil) != tc.cost {
			t.Errorf("%+v: tokens %v, cost %v", tc.usage, s.Tokens, s.Cost)
		}
	}
	s := &session{}
	s.setUsage(transcript.Usage{Tokens: tokens})
	if s.addUsage(transcript.Usage{Tokens: tokens, Cost: 0.5}); s.Cost == nil || *s.Cost != 0.5 || s.Tokens.Total != 2*tokens.Total {
		t.Errorf("with a sub-agent: %v %v", s.Tokens, s.Cost)
	}
}
