package claudecode

import (
	"fmt"
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

// known: the record or the installation had one.
func (v version) known() bool { return v != version{} }

func (v version) String() string { return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]) }

// staysBehind reports whether a version's registry entry keeps the first session's id after /clear: until 2.1.129
// (2.1.126 did), and where an entry has no version.
func staysBehind(s string) bool { return parseVersion(s).before(version{2, 1, 129}) }
