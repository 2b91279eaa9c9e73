package claudecode

import (
	"agentctl/discover"
	"agentctl/discover/claudecode/transcript"
)

// newestTried is the newest version in docs/support.md.
const newestTried = "2.1.332"

// Tried implements [discover.FormatChecker]. The program of a node build is node, whose place does not show the version.
func (Adapter) Tried() discover.Tried {
	return discover.Tried{
		Newest: newestTried, ProgramVersion: func(path string) string { return installedVersion(path).String() },
		UnknownKinds: discover.UnknownLineKinds(transcript.KnownTypes, transcript.TypeOf),
	}
}
