package opencode

import (
	"cmp"

	"agentctl/discover"
)

// HTTP statuses by which a provider refuses requests because too much was asked for.
const (
	paymentRequired = 402
	tooManyRequests = 429
)

// setQuota tells that the provider refused the newest request because of a limit. Only what ends a turn is stored: 402 does
// (SEEN 1.1.65, 1.18.33), 429 is tried again for ever, or until the person aborts that, and leaves nothing (SEEN both). When
// the limit begins anew is not said in a way that could be relied on.
func (s *session) setQuota() {
	if m := s.last; m != nil && m.failed && (m.errStatus == paymentRequired || m.errStatus == tooManyRequests) {
		s.Quotas = []discover.Quota{{Reached: true, Text: s.Turn.Error, Time: timeOf(cmp.Or(m.completed, m.created))}}
	}
}
