// Package agents lists the agents that are known. Another agent adds one folder beside the others and one line here.
package agents

import (
	"agentctl/discover"
	"agentctl/discover/claudecode"
	"agentctl/discover/codex"
	"agentctl/discover/copilot"
	"agentctl/discover/opencode"
	"agentctl/discover/pi"
	"agentctl/launch"
)

// All returns the readers of all agents.
func All() []discover.Adapter {
	var all []discover.Adapter
	for _, a := range []launch.Adapter{claudecode.New(), codex.New(), copilot.New(), opencode.New(), pi.New()} {
		all = append(all, a)
	}
	return all
}
