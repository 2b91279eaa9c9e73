package claudecode

import (
	"context"

	"agentctl/discover"
	"agentctl/discover/claudecode/transcript"
	"agentctl/discover/native"
)

// newestTried is the newest version in docs/support.md.
const newestTried = "2.1.332"

// NewestTried implements [discover.FormatChecker].
func (Adapter) NewestTried() string { return newestTried }

// UntriedVersion implements [discover.FormatChecker]. The program of a node build is node, whose place does not show the version.
func (Adapter) UntriedVersion(s discover.Session) string {
	version := s.Version
	for _, p := range s.Processes {
		if v := installedVersion(p.Exe); v.Known() {
			version = v.String()
		}
	}
	return native.IfNewer(version, newestTried)
}

// UnknownKinds implements [discover.FormatChecker].
func (Adapter) UnknownKinds(ctx context.Context, r discover.Record) ([]string, error) {
	kinds := native.Kinds{Known: transcript.KnownTypes}
	err := kinds.AddLines(ctx, r.Path, transcript.TypeOf)
	return kinds.Unknown, asWarning(r.Path, err)
}
