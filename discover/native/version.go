package native

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Version is the major, minor and patch number of an agent; zero if unknown.
type Version [3]int

// ParseVersion parses "2.1.129". Missing numbers are 0, and what follows the digits of a number is ignored.
func ParseVersion(s string) (v Version) {
	for i, part := range strings.SplitN(s, ".", len(v)) {
		digits := part[:len(part)-len(strings.TrimLeft(part, "0123456789"))]
		v[i], _ = strconv.Atoi(digits) // 0 where there are none
	}
	return v
}

// Known reports whether the version is known.
func (v Version) Known() bool { return v != Version{} }

// Before reports whether the version is known and older than w.
func (v Version) Before(w Version) bool { return v.Known() && slices.Compare(v[:], w[:]) < 0 }

// String returns the version as agents write it; "" if it is unknown.
func (v Version) String() string {
	if !v.Known() {
		return ""
	}
	return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2])
}

// IfNewer returns a version if it is newer than another one, else "".
func IfNewer(version, than string) string {
	if ParseVersion(than).Before(ParseVersion(version)) {
		return version
	}
	return ""
}
