package codex

import (
	"cmp"
	"context"
	"strings"

	"agentctl/discover"
	"agentctl/discover/codex/transcript"
	"agentctl/discover/native"
)

// newestTried is the newest version in docs/support.md.
const newestTried = "0.169.0"

// NewestTried implements [discover.FormatChecker].
func (Adapter) NewestTried() string { return newestTried }

// UntriedVersion implements [discover.FormatChecker]. A rollout has the version that created it, which is the last resort.
func (Adapter) UntriedVersion(s discover.Session) string {
	version := s.Version
	for _, p := range s.Processes {
		version = cmp.Or(binaryVersion(p.Exe), version)
	}
	return native.IfNewer(version, newestTried)
}

// UnknownKinds implements [discover.FormatChecker]. A rollout that is being written is not compressed.
func (Adapter) UnknownKinds(ctx context.Context, r discover.Record) ([]string, error) {
	if strings.HasSuffix(r.Path, compressedExt) {
		return nil, nil
	}
	kinds := native.Kinds{Known: transcript.KnownKinds}
	if err := kinds.AddLines(ctx, r.Path, transcript.KindName); err != nil {
		return kinds.Unknown, warn(r.Path, err)
	}
	return kinds.Unknown, nil
}
