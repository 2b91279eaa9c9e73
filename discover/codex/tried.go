package codex

import (
	"agentctl/discover"
)

// newestTried is the newest version in docs/support.md.
const newestTried = "0.171.0"

// Tried implements [discover.FormatChecker]. A rollout that is being written is not compressed.
func (Adapter) Tried() discover.Tried {
	return discover.Tried{
		Newest: newestTried, ProgramVersion: binaryVersion, UnknownKinds: discover.UnknownLineKinds(knownKinds, kindName),
	}
}
