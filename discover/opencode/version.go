package opencode

import (
	"context"
	"path/filepath"
	"strings"

	"agentctl/discover"
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

// versionOf reads the version of a binary from the manifest of the npm package that it is in; zero if it is in none. The name of the package
// says which generation it is: opencode-ai and opencode-linux-x64 are OpenCode 1, @opencode/cli and @opencode/cli-linux-x64 OpenCode 2 (READ
// 2.0.26).
func versionOf(path string) (version storage.Version, g generation) {
	data, err := storage.ReadFileNoFollow(filepath.Join(filepath.Dir(filepath.Dir(path)), "package.json"), manifestLimit)
	manifest := storage.Object(data)
	switch name := manifest.Get("name").Text(nameLimit); {
	case err != nil:
		return version, g
	case strings.HasPrefix(name, "opencode-"):
		g = generation1
	case strings.HasPrefix(name, "@opencode/cli"):
		g = generation2
	default:
		return version, g
	}
	return storage.ParseVersion(manifest.Get("version").Text(nameLimit)), g
}

// newestTried is the newest version in docs/support.md.
const newestTried = "1.18.33"

// Tried implements [discover.Adapter].
func (Adapter) Tried() discover.Tried {
	return discover.Tried{
		Newest: newestTried, ReadInSource: readInSource, ProgramVersion: programVersion, UnknownKinds: unknownKinds,
	}
}

func programVersion(path string) string {
	version, _ := versionOf(path)
	return version.String()
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
	kinds := storage.Kinds{Known: knownPartTypes + knownV2Types}
	n := 0
	for m := range rows.Newest(cursor{}) {
		if m.Type != "" {
			addV2Kinds(&kinds, m)
		}
		for p := range rows.Parts(m.ID) {
			kinds.Add(partType(p.Head))
		}
		if n++; n == newestMessages {
			break
		}
	}
	return kinds.Unknown
}
