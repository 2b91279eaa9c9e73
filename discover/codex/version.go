package codex

import (
	"path/filepath"
	"strings"

	"agentctl/discover/native"
	"agentctl/discover/native/fsread"
	"agentctl/discover/native/jsonl"
)

// oldestSupported is the oldest version whose processes agentctl looks into, launches and resumes. It reads what older ones have stored.
const oldestSupported = "0.130"

// belowFloor returns why a version is not supported; "" if it is, or is unknown.
func belowFloor(version string) string {
	if !native.ParseVersion(version).Before(native.ParseVersion(oldestSupported)) {
		return ""
	}
	return version + " is older than supported (" + oldestSupported + "): update"
}

// binaryVersion is the version of a binary by the place where it is installed, "" where the place does not tell. The daemon's copy is
// in releases/<version>-<platform>/bin (SEEN 0.169). npm's is in <package>/vendor/<platform>/…, below the directory of the package's
// description (SEEN 0.104, 0.169).
func binaryVersion(exe string) string {
	for dir := filepath.Dir(exe); len(dir) > 1; dir = filepath.Dir(dir) {
		switch parent := filepath.Dir(dir); filepath.Base(parent) {
		case "releases":
			return versionNumber(filepath.Base(dir))
		case "vendor":
			raw, err := fsread.ReadFileNoFollow(filepath.Join(filepath.Dir(parent), "package.json"), 64<<10)
			if err != nil {
				return ""
			}
			return versionNumber(jsonl.Object(raw).Get("version").Text(0))
		}
	}
	return ""
}

// versionNumber is the version without the platform: "0.169.0" of "0.169.0-linux-x64".
func versionNumber(s string) string {
	for _, platform := range []string{"-linux", "-darwin", "-win32", "-x86_64", "-aarch64"} {
		s, _, _ = strings.Cut(s, platform)
	}
	return s
}
