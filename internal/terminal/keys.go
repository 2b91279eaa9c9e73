package terminal

import (
	"strings"
	"unicode/utf8"
)

// Key is a key that was typed: a character, a control character, or one of the named keys.
type Key rune

// The named keys. A paste is what the terminal types at once: its characters are between PasteBegin and PasteEnd.
const (
	Up Key = -1 - iota
	Down
	Left
	Right
	Home
	End
	PageUp
	PageDown
	Delete
	PasteBegin
	PasteEnd
	Unknown
)

// Control characters that have a key of their own.
const (
	Tab       Key = '\t'
	Enter     Key = '\n' // the terminal turns a carriage return into it
	Escape    Key = 0x1b
	Backspace Key = 0x7f
)

// decodeKeys decodes what was typed. rest is the beginning of a sequence whose end is not there yet; with all, there is none,
// since nothing follows: a lone ESC is the key.
func decodeKeys(typed []byte, all bool) (keys []Key, rest []byte) {
	for len(typed) > 0 {
		k, n := decodeKey(typed, all)
		if n == 0 {
			return keys, typed
		}
		typed = typed[n:]
		keys = append(keys, k)
	}
	return keys, nil
}

// decodeKey decodes the first key and returns its length in bytes; 0 if its end is not there yet.
func decodeKey(typed []byte, all bool) (Key, int) {
	if typed[0] == byte(Escape) {
		return decodeSequence(typed, all)
	}
	if !all && !utf8.FullRune(typed) {
		return 0, 0
	}
	r, n := utf8.DecodeRune(typed)
	switch {
	case r == utf8.RuneError:
		return Unknown, n
	case r == '\r':
		return Enter, n
	case r == '\b':
		return Backspace, n
	}
	return Key(r), n
}

// decodeSequence decodes a key that begins with ESC: CSI with its parameters, SS3 with one character, or the key itself.
func decodeSequence(typed []byte, all bool) (Key, int) {
	switch {
	case len(typed) == 1 && !all:
		return 0, 0
	case len(typed) == 1, typed[1] != '[' && typed[1] != 'O':
		return Escape, 1
	}
	end := 2
	for typed[1] == '[' && end < len(typed) && typed[end] >= 0x20 && typed[end] < 0x40 {
		end++
	}
	switch {
	case end < len(typed):
		return named(string(typed[2:end]), typed[end]), end + 1
	case all:
		return Unknown, len(typed)
	}
	return 0, 0
}

// named returns the key of a sequence: its parameters, of which the first counts, and its last character (xterm, VT220).
func named(parameters string, final byte) Key {
	number, _, _ := strings.Cut(parameters, ";")
	switch final {
	case 'A':
		return Up
	case 'B':
		return Down
	case 'C':
		return Right
	case 'D':
		return Left
	case 'H':
		return Home
	case 'F':
		return End
	case '~':
		if k, ok := numbered()[number]; ok {
			return k
		}
	}
	return Unknown
}

// numbered are the keys of sequences that end with a tilde, by their number.
func numbered() map[string]Key {
	return map[string]Key{
		"1": Home, "7": Home, "4": End, "8": End, "3": Delete, "5": PageUp, "6": PageDown, "200": PasteBegin, "201": PasteEnd,
	}
}
