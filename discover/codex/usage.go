package codex

import (
	"agentctl/discover"
	"agentctl/discover/native"
)

// tokens reads a usage; nil if none was used, which is how the agent records an estimate of the context. Input includes
// what was read from the cache, as Codex counts it.
func tokens(o native.Object) *discover.Tokens {
	t := &discover.Tokens{
		In:         get(o, "input_tokens").Int(),
		Out:        get(o, "output_tokens").Int(),
		CacheRead:  get(o, "cached_input_tokens").Int(),
		CacheWrite: get(o, "cache_write_input_tokens").Int(),
		Reasoning:  get(o, "reasoning_output_tokens").Int(),
		Total:      get(o, "total_tokens").Int(),
	}
	if t.In == 0 && t.Out == 0 {
		return nil
	}
	return t
}
