package claudecode

import (
	"agentctl/discover"
	"agentctl/discover/claudecode/transcript"
)

const (
	// newestTried is the newest version in docs/support.md.
	newestTried = "2.1.332"
	// oldestSupported is the oldest version whose processes are understood, half a year old. Stored sessions of older ones are read.
	oldestSupported = "2.1.132"
)

// Tried implements [discover.FormatChecker].
func (Adapter) Tried() discover.Tried {
	return discover.Tried{
		Newest: newestTried, ProgramVersion: func(path string) string { return installedVersion(path).String() },
		UnknownKinds: discover.UnknownLineKinds(transcript.KnownTypes, transcript.TypeOf),
	}
}
