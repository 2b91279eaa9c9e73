package opencode

import (
	"errors"
	"slices"

	"agentctl/discover"
	"agentctl/discover/native/sqlite"
)

// OpenCode 2 has a background service that runs all sessions of a home (`serve --service`; its terminals and runs are
// clients), and keeps what it stores in tables of its own (SEEN 0.0.0-next-16350, a preview named opencode2; READ 2.0.3:
// session_v2 beside the older tables). Its sessions are not read: that is said, and none of them is called stopped for it.
const (
	v2ServiceFlag  = "--service"
	v2SessionTable = "session_v2"
)

var errV2Sessions = errors.New("sessions of OpenCode 2 in it are left out: agentctl does not know how to read them yet")

// hasV2Sessions reports whether a database with these tables has sessions of OpenCode 2.
func hasV2Sessions(db *sqlite.DB, tables []string) bool {
	if slices.Contains(tables, v2SessionTable) {
		for range db.Query(`SELECT 1 FROM ` + v2SessionTable + ` LIMIT 1`) {
			return true
		}
	}
	return false
}

// v2ServiceClaim is the presence of its background service: a live process of which nobody knows what it runs, nor where.
func v2ServiceClaim(base discover.Claim) discover.Claim {
	c := base
	c.Strength, c.Kind, c.Detail = discover.Exact, "process", "the background service of OpenCode 2"
	c.Unreadable = "it is the background service of OpenCode 2, whose sessions agentctl does not know how to read yet"
	return c
}
