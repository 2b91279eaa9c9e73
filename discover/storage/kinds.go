package storage

import (
	"context"
	"crypto/rand"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Kinds collects the kinds of records that a reader does not know.
type Kinds struct {
	// Known are the known kinds, each between two spaces.
	Known string
	// Unknown are the others, in the order in which they came, at most [maxUnknown].
	Unknown []string
}

// maxUnknown is how many unknown kinds are kept: a damaged or hostile file may have any number.
const maxUnknown = 8

// kindLimit is the most characters of a kind that are kept. Real ones have at most 40.
const kindLimit = 64

// newestRecords is how many bytes from the end of a file are examined.
const newestRecords = 1 << 20

// Add adds a kind. A record without one is no record, and is not counted.
func (k *Kinds) Add(kind string) {
	if kind == "" || len(k.Unknown) == maxUnknown || strings.Contains(k.Known, " "+kind+" ") || slices.Contains(k.Unknown, kind) {
		return
	}
	k.Unknown = append(k.Unknown, kind)
}

// AddLines adds the kinds of the newest lines of a file of JSON objects. kindOf returns the kind of an object. A file that has
// vanished has none.
func (k *Kinds) AddLines(ctx context.Context, path string, kindOf func(Object) string) error {
	f, err := Open(ctx, path)
	if IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.RecordsBackward(newestRecords, func(l Line) bool {
		if !l.Cut {
			k.Add(kindOf(Object(l.Bytes)))
		}
		return true
	})
	return err
}

// Kind returns the kind in a member of a record, "" if there is none.
func Kind(v Value) string { return v.Text(kindLimit) }

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

// BelowFloor returns what is said of a version that is older than the oldest supported one; "" if it is not, or is unknown.
func (v Version) BelowFloor(oldest string) string {
	if !v.Before(ParseVersion(oldest)) {
		return ""
	}
	return v.String() + " is older than supported (" + oldest + "): update"
}

// manifestLimit bounds a package.json, in bytes; real ones have some thousand.
const manifestLimit = 1 << 20

// NPMPackage returns the name and the version of the npm package that contains a program: of the package.json in its directory or, up to
// levels in all, in those above it, the first with a name that isName accepts. They are "" and zero without one.
func NPMPackage(program string, levels int, isName func(string) bool) (name string, v Version) {
	if real, err := filepath.EvalSymlinks(program); err == nil {
		program = real
	}
	for dir := filepath.Dir(program); levels > 0; levels-- {
		manifest, err := ReadFileNoFollow(filepath.Join(dir, "package.json"), manifestLimit)
		if name := Object(manifest).Get("name").Text(kindLimit); err == nil && isName(name) {
			return name, ParseVersion(Object(manifest).Get("version").Text(kindLimit))
		}
		dir = filepath.Dir(dir)
	}
	return "", v
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

// UUIDLen is the length of a UUID, in characters.
const UUIDLen = 36

// ShortUUIDLen returns how many leading characters of a UUID distinguish it from others: the first group of a random one
// (version 4), the part with the time in milliseconds of a time-ordered one (version 7), all of any other.
func ShortUUIDLen(id string) int {
	const random, milliseconds = 8, 13
	switch UUIDVersion(id) {
	case '4':
		return random
	case '7':
		return milliseconds
	}
	return len(id)
}

// UUIDVersion returns the digit with the version of a UUID; 0 for what has another length.
func UUIDVersion(id string) byte {
	if len(id) != UUIDLen {
		return 0
	}
	return id[14]
}

// NewUUID makes a random UUID (version 4, RFC 9562).
func NewUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0F|0x40, b[8]&0x3F|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// IsUUID reports whether s is a UUID: one in lower case, or if mixed in either case.
func IsUUID(s string, mixed bool) bool { return len(s) == UUIDLen && IsUUIDPrefix(s, mixed) }

// IsUUIDPrefix reports whether a UUID (8-4-4-4-12 hexadecimal digits) can start with s: one in lower case, or if mixed in
// either case.
func IsUUIDPrefix(s string, mixed bool) bool {
	if len(s) > UUIDLen {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if !('0' <= c && c <= '9' || 'a' <= c && c <= 'f' || mixed && 'A' <= c && c <= 'F') {
				return false
			}
		}
	}
	return true
}
