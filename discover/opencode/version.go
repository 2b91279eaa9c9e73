package opencode

import (
	"path/filepath"
	"strings"

	"agentctl/discover/native"
	"agentctl/discover/native/fsread"
	"agentctl/discover/native/jsonl"
)

// oldestSupported is the oldest version whose processes agentctl looks into, launches and resumes. It reads what older ones have stored.
const oldestSupported = "1.14"

// belowFloor returns why a version is not supported; "" if it is, or is unknown.
func belowFloor(v native.Version) string {
	if !v.Before(native.ParseVersion(oldestSupported)) {
		return ""
	}
	return v.String() + " is older than supported (" + oldestSupported + "): update"
}

// manifestLimit bounds package.json, in bytes.
const manifestLimit = 1 << 20

// versionOf reads the version of a binary from the manifest of the npm package that it is in; zero if it is in none.
func versionOf(path string) native.Version {
	data, err := fsread.ReadFileNoFollow(filepath.Join(filepath.Dir(filepath.Dir(path)), "package.json"), manifestLimit)
	manifest := jsonl.Object(data)
	if err != nil || !strings.HasPrefix(manifest.Get("name").Text(nameLimit), "opencode-") {
		return native.Version{}
	}
	return native.ParseVersion(manifest.Get("version").Text(nameLimit))
}
