package opencode

import (
	"path/filepath"
	"strings"

	"agentctl/discover/native"
	"agentctl/discover/native/fsread"
	"agentctl/discover/native/jsonl"
	"agentctl/discover/opencode/transcript"
)

// manifestLimit bounds package.json, in bytes.
const manifestLimit = 1 << 20

// versionOf reads the version of a binary from the manifest of the npm package that it is in; zero if it is in none.
func versionOf(path string) native.Version {
	data, err := fsread.ReadFileNoFollow(filepath.Join(filepath.Dir(filepath.Dir(path)), "package.json"), manifestLimit)
	manifest := jsonl.Object(data)
	if err != nil || !strings.HasPrefix(manifest.Get("name").Text(transcript.NameLimit), "opencode-") {
		return native.Version{}
	}
	return native.ParseVersion(manifest.Get("version").Text(transcript.NameLimit))
}

// versionText returns the version for messages.
func (p installation) versionText() string {
	if !p.version.Known() {
		return "unknown"
	}
	return p.version.String()
}
