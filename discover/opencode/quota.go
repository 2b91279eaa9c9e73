package opencode

import (
	"cmp"

	"agentctl/discover"
)

// HTTP statuses by which a provider refuses a request because of a limit.
const (
	paymentRequired = 402
	tooManyRequests = 429
)

// Quotas returns the limit for which the provider refused the newest request; none otherwise. Only an error that ends the turn is
// stored: 402 is (SEEN 1.1.65, 1.18.33). After 429, OpenCode tries again forever, or until the user aborts it, and stores nothing (SEEN
// both). No reliable source has the time at which the limit resets.
func (t *tail) Quotas() []discover.Quota {
	m := t.Last
	if m == nil || !m.failed || m.errStatus != paymentRequired && m.errStatus != tooManyRequests {
		return nil
	}
	return []discover.Quota{{Reached: true, Text: t.Turn().Error, Time: fromMillis(cmp.Or(m.Completed, m.Created))}}
}
