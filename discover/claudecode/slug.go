package claudecode

import (
	"strconv"
	"strings"
	"unicode/utf16"

	"agentctl/discover/native"
)

// slugLimit is the length from which a slug is cut and given a hash.
const slugLimit = 200

// slug names the project folder of a directory (its real path): every UTF-16 unit but A-Z, a-z, 0-9 becomes a dash.
// Several directories share a slug, so it is only ever computed, never decoded (seen in 2.1.75 to 2.1.329).
func slug(dir string) string {
	units := utf16.Encode([]rune(dir))
	var b strings.Builder
	hash := int32(0)
	for _, u := range units {
		hash = hash<<5 - hash + int32(u)
		if u < 128 && isAlphanumeric(byte(u)) {
			b.WriteByte(byte(u))
		} else {
			b.WriteByte('-')
		}
	}
	if b.Len() <= slugLimit {
		return b.String()
	}
	return b.String()[:slugLimit] + "-" + strconv.FormatUint(uint64(abs(int64(hash))), 36)
}

// isSlugOf reports whether a project folder of that name is a directory's. What follows the cut in the name of a very
// long one differs between builds.
func isSlugOf(project, dir string) bool {
	name := slug(dir)
	return name == project || len(name) > slugLimit && strings.HasPrefix(project, name[:slugLimit+1])
}

func abs(n int64) int64 { return max(n, -n) }

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// isUUID reports whether s has the form of a session id: 8-4-4-4-12 lower- or upper-case hex digits.
func isUUID(s string) bool { return len(s) == uuidLen && beginsUUID(s) }

// A UUID's length, and where its version stands.
const (
	uuidLen   = native.UUIDLen
	versionAt = 14
)

// beginsUUID reports whether a session id can begin with s.
func beginsUUID(s string) bool { return native.IsUUIDPrefix(s, true) }
