package claudecode

import "agentctl/discover/native"

// staysBehind reports whether a version's registry entry keeps the first session's id after /clear: until 2.1.129
// (2.1.126 did), and where an entry has no version.
func staysBehind(s string) bool {
	v := native.ParseVersion(s)
	return !v.Known() || v.Before(native.Version{2, 1, 129})
}
