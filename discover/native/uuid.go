package native

// UUIDLen is the length of a UUID, in characters.
const UUIDLen = 36

// ShortUUID is how many of the first characters of a UUID tell it from others: of a random one (version 4) the first group, of one
// that begins with the time in milliseconds (version 7) as many as hold that, of any other all.
func ShortUUID(id string) int {
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

// BeginsUUID reports whether a UUID (8-4-4-4-12 hexadecimal digits) can begin with s: one in lower case, or with mixed in either.
// Every second digit is a letter: a processor that had to guess which is one would be wrong a dozen times an id, which costs
// more than all else about it. So digits are looked up.
func BeginsUUID(s string, mixed bool) bool {
	const hyphens = 1<<8 | 1<<13 | 1<<18 | 1<<23
	if len(s) > UUIDLen {
		return false
	}
	digits := [...]uint64{(1<<10 - 1) << '0', (1<<6 - 1) << ('a' % 64), 0, 0} // a bit for each character
	if mixed {
		digits[1] |= (1<<6 - 1) << ('A' % 64)
	}
	for i := range len(s) {
		c := s[i]
		if hyphens>>i&1 != 0 {
			if c != '-' {
				return false
			}
		} else if digits[c/64]>>(c%64)&1 == 0 {
			return false
		}
	}
	return true
}
