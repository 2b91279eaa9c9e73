package native

// UUIDLen is the length of a UUID, in characters.
const UUIDLen = 36

// ShortUUIDLen is how many of the first characters of a UUID tell it from others: of a random one (version 4) the first group, of one
// that begins with the time in milliseconds (version 7) as many as hold that, of any other all.
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

// IsUUIDPrefix reports whether a UUID (8-4-4-4-12 hexadecimal digits) can begin with s: one in lower case, or with mixed in either.
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
