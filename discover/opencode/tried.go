package opencode

import (
	"context"

	"agentctl/discover"
	"agentctl/discover/native"
	"agentctl/discover/opencode/transcript"
)

// newestTried is the newest version in docs/support.md.
const newestTried = "1.18.33"

// NewestTried implements [discover.FormatChecker].
func (Adapter) NewestTried() string { return newestTried }

// UntriedVersion implements [discover.FormatChecker]. A session has the version that created it, which is the last resort.
func (Adapter) UntriedVersion(s discover.Session) string {
	version := s.Version
	for _, p := range s.Processes {
		if v := versionOf(p.Exe); v.Known() {
			version = v.String()
		}
	}
	return native.IfNewer(version, newestTried)
}

// UnknownKinds implements [discover.FormatChecker].
func (Adapter) UnknownKinds(ctx context.Context, r discover.Record) (unknown []string, err error) {
	if isLegacyPath(r.Path) {
		return transcript.UnknownPartTypes(newLegacyMessages(ctx, r.Path, r.ID)), nil
	}
	err = readDatabase(ctx, r.Home, r.Path, func(d *database) { unknown = transcript.UnknownPartTypes(d.messages(r.ID)) })
	return unknown, warningUnlessGone(r.Path, err)
}
