package pi

import (
	"agentctl/proc"
)

// MatchesBinary implements [discover.Adapter]. Pi runs in node, or is a program of its own, made by bun.
func (Adapter) MatchesBinary(exe string) bool {
	switch proc.ProgramName(exe) {
	case programName, "node", "bun":
		return true
	}
	return false
}
