package cli

import (
	"strings"

	"agentctl/discover"
	"agentctl/internal/config"
)

// reckon returns what an answer costs by the prices. It is not ok if the file has no price for the model, or for a kind of the
// tokens that it used.
func (s *sums) reckon(a discover.Usage) (usd float64, ok bool) {
	price, ok := priceOf(s.prices, a.Model)
	for _, part := range []struct {
		tokens int64
		usd    *float64
	}{{a.Tokens.In, price.In}, {a.Tokens.Out, price.Out}, {a.Tokens.CacheRead, price.CacheRead}, {a.Tokens.CacheWrite, price.CacheWrite}} {
		switch {
		case part.tokens == 0:
		case part.usd == nil:
			return 0, false
		default:
			usd += float64(part.tokens) * *part.usd / 1e6
		}
	}
	return usd, ok
}

// priceOf returns the price of a model, or of its name without the provider that precedes it.
func priceOf(prices map[string]config.Price, model string) (p config.Price, ok bool) {
	if p, ok = prices[model]; !ok {
		p, ok = prices[model[strings.LastIndexByte(model, '/')+1:]]
	}
	return p, ok
}
