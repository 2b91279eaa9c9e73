package opencode

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/sqlite"
	"agentctl/discover/storage"
)

// oldestSupported is the oldest version whose processes agentctl looks into, launches and resumes. It reads what older ones have stored.
const oldestSupported = "1.14"

// belowFloor returns why a version is not supported; "" if it is, or is unknown.
func belowFloor(v storage.Version) string {
	if !v.Before(storage.ParseVersion(oldestSupported)) {
		return ""
	}
	return v.String() + " is older than supported (" + oldestSupported + "): update"
}

// manifestLimit bounds package.json, in bytes.
const manifestLimit = 1 << 20

// versionOf reads the version of a binary from the manifest of the npm package that it is in; zero if it is in none.
func versionOf(path string) storage.Version {
	data, err := storage.ReadFileNoFollow(filepath.Join(filepath.Dir(filepath.Dir(path)), "package.json"), manifestLimit)
	manifest := storage.Object(data)
	if err != nil || !strings.HasPrefix(manifest.Get("name").Text(nameLimit), "opencode-") {
		return storage.Version{}
	}
	return storage.ParseVersion(manifest.Get("version").Text(nameLimit))
}

// newestTried is the newest version in docs/support.md.
const newestTried = "1.18.33"

// Tried implements [discover.Adapter].
func (Adapter) Tried() discover.Tried {
	return discover.Tried{
		Newest: newestTried, ProgramVersion: func(path string) string { return versionOf(path).String() }, UnknownKinds: unknownKinds,
	}
}

func unknownKinds(ctx context.Context, r discover.Record) ([]string, error) {
	if isLegacyPath(r.Path) {
		return nil, nil // no version writes them any more
	}
	return readDatabase(ctx, r.Home, r.Path, func(d *database) []string { return unknownPartTypes(d.messages(r.ID)) })
}

// knownPartTypes are the types of parts that OpenCode writes (READ 1.18.33), those that only older versions wrote included.
const knownPartTypes = " text reasoning file tool subtask agent step-start step-finish snapshot patch retry compaction "

// newestMessages is how many of a session's messages [unknownPartTypes] examines.
const newestMessages = 50

// unknownPartTypes returns the types of parts of the newest messages that this package does not know.
func unknownPartTypes(rows rowReader) []string {
	kinds := storage.Kinds{Known: knownPartTypes}
	n := 0
	for m := range rows.Newest(cursor{}) {
		for p := range rows.Parts(m.ID) {
			kinds.Add(partType(p.Head))
		}
		if n++; n == newestMessages {
			break
		}
	}
	return kinds.Unknown
}

// OpenCode 2 has a background service that runs all sessions of a home (`serve --service`; its terminals and runs are clients). It stores
// sessions in tables of its own, beside the older ones (SEEN 0.0.0-next-16350, a preview named opencode2; READ 2.0.3). agentctl does not
// read them: it gives a warning, and shows the service as a process whose sessions are unknown.
const (
	v2ServiceFlag  = "--service"
	v2SessionTable = "session_v2"
)

var errV2Sessions = errors.New("it has sessions of OpenCode 2, which agentctl cannot read yet")

// hasV2Sessions reports whether a database with these tables has sessions of OpenCode 2.
func hasV2Sessions(db *sqlite.DB, tables []string) bool {
	if slices.Contains(tables, v2SessionTable) {
		for range db.Query(`SELECT 1 FROM ` + v2SessionTable + ` LIMIT 1`) {
			return true
		}
	}
	return false
}
