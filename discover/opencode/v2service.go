package opencode

import (
	"errors"
	"slices"

	"agentctl/discover/native/sqlite"
)

// OpenCode 2 has a background service that runs all sessions of a home (`serve --service`; its terminals and runs are clients). It stores
// sessions in tables of its own, beside the older ones (SEEN 0.0.0-next-16350, a preview named opencode2; READ 2.0.3). agentctl does not
// read them: it gives a warning, and shows the service as a process whose sessions are unknown.
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
