package native

// UUIDLen is the length of a UUID, in characters.
const UUIDLen = 36

// ShortUUIDLen returns how many leading characters of a UUID distinguish it from others: the first group of a random one
// (version 4), the part with the time in milliseconds of a time-ordered one (version 7), all of any other.
func ShortUUIDLen(id string) int {
	const version, random, milliseconds = 14, 8, 13
	if len(id) == UUIDLen {
		switch id[version] {
		case '4':
			return random
		case '7':
			return milliseconds
		}
	}
	return len(id)
}

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
