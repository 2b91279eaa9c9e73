package native

// UUIDLen is the length of a UUID, in characters.
const UUIDLen = 36

// What a character can be in a UUID.
const (
	lowerDigit = 1 << iota // of a number in lower case
	upperDigit             // one that only a number in upper case has
	hyphen
)

// uuidChars tells that by the character. Every second digit is a letter: a processor that had to guess which is one would be
// wrong a dozen times an id, which costs more than all else about it.
var uuidChars = [256]byte{
	'0': lowerDigit, '1': lowerDigit, '2': lowerDigit, '3': lowerDigit, '4': lowerDigit,
	'5': lowerDigit, '6': lowerDigit, '7': lowerDigit, '8': lowerDigit, '9': lowerDigit,
	'a': lowerDigit, 'b': lowerDigit, 'c': lowerDigit, 'd': lowerDigit, 'e': lowerDigit, 'f': lowerDigit,
	'A': upperDigit, 'B': upperDigit, 'C': upperDigit, 'D': upperDigit, 'E': upperDigit, 'F': upperDigit,
	'-': hyphen,
}

// BeginsUUID reports whether a UUID (8-4-4-4-12 hexadecimal digits) can begin with s: one in lower case, or with mixed in either.
func BeginsUUID(s string, mixed bool) bool {
	const hyphens = 1<<8 | 1<<13 | 1<<18 | 1<<23
	if len(s) > UUIDLen {
		return false
	}
	digit := byte(lowerDigit)
	if mixed {
		digit |= upperDigit
	}
	for i := range len(s) {
		wanted := digit
		if hyphens>>i&1 != 0 {
			wanted = hyphen
		}
		if uuidChars[s[i]]&wanted == 0 {
			return false
		}
	}
	return true
}
