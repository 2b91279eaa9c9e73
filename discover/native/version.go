package native

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Version is an agent's major, minor and patch number; zero where it is not known.
type Version [3]int

// ParseVersion reads "2.1.129"; numbers that are missing are 0, and what follows their digits does not count.
func ParseVersion(s string) (v Version) {
	for i, part := range strings.SplitN(s, ".", len(v)) {
		digits := part[:len(part)-len(strings.TrimLeft(part, "0123456789"))]
		v[i], _ = strconv.Atoi(digits) // 0 where there are none
	}
	return v
}

// Known reports whether there is a version.
func (v Version) Known() bool { return v != Version{} }

// Before reports whether a version is known to be older than another one.
func (v Version) Before(w Version) bool { return v.Known() && slices.Compare(v[:], w[:]) < 0 }

// String is the version as its agent writes it.
func (v Version) String() string { return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]) }
