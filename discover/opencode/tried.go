package opencode

import (
	"context"

	"agentctl/discover"
)

// newestTried is the newest version in docs/support.md.
const newestTried = "1.18.33"

// Tried implements [discover.FormatChecker].
func (Adapter) Tried() discover.Tried {
	return discover.Tried{
		Newest: newestTried, ProgramVersion: func(path string) string { return versionOf(path).String() }, UnknownKinds: unknownKinds,
	}
}

func unknownKinds(ctx context.Context, r discover.Record) (unknown []string, err error) {
	err = readDatabase(ctx, r.Home, r.Path, func(d *database) { unknown = unknownPartTypes(d.messages(r.ID)) })
	return unknown, warningUnlessGone(r.Path, err)
}
