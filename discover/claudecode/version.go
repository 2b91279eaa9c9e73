package claudecode

import (
	"strconv"
	"strings"
)

// version is Claude Code's major, minor and patch number; zero where a record has none.
type version [3]int

func parseVersion(s string) (v version) {
	for i, part := range strings.SplitN(s, ".", 3) {
		digits := part[:len(part)-len(strings.TrimLeft(part, "0123456789"))]
		v[i], _ = strconv.Atoi(digits)
	}
	return v
}

func (v version) before(w version) bool {
	for i := range v {
		if v[i] != w[i] {
			return v[i] < w[i]
		}
	}
	return false
}

// followsClear is the first version whose registry entry takes the new id after /clear (2.1.126 did not).
var followsClear = version{2, 1, 129}
