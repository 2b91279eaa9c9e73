// Package jsonl reads the JSON objects of transcript lines where they stand: members are found without decoding the rest, and
// strings are decoded up to a limit. It opens no file and imports no other package of this module.
package jsonl

import (
	"bytes"
	"encoding/json"
	"iter"
	"time"
)

// Object is one JSON object, read in place: its members are found without decoding, copying or checking what nobody
// asked for. Transcript lines hold megabytes of text around the few short facts that matter.
type Object []byte

// Members yields the object's keys as they are spelt and its values as they stand, in order. It ends where the bytes
// stop being an object; what it gave before is then still what it says. A value may be cut by the end of the bytes
// only if it is an object that begins there: its own members can be read all the same. Compare a key by
// string(key) == "…", which copies nothing.
func (o Object) Members() iter.Seq2[[]byte, Value] {
	return func(yield func([]byte, Value) bool) {
		o.walk(func(key []byte, v Value) int {
			if yield(key, v) {
				return lengthUnknown
			}
			return stopWalk
		})
	}
}

// Get is the value of the first member of that name; nil if there is none.
func (o Object) Get(name string) Value {
	for key, value := range o.Members() {
		if string(key) == name {
			return value
		}
	}
	return nil
}

// Complete reports whether the object is whole: well formed down to its members, closed, and followed by nothing. Two
// lines run into one by a crash are not.
func (o Object) Complete() bool { return o.Scan(func([]byte, Value) int { return lengthUnknown }) }

// Damaged reports whether a line that has an end is no JSON all the same: cut, overwritten or run into another by a
// crash. A blank one is not.
func Damaged(line []byte) bool {
	return len(skipSpace(line)) > 0 && !Object(line).Complete() && !json.Valid(line)
}

// Scan gives the members to visit as Members yields them, and reports whether the object is Complete. It goes over the
// bytes once for both. visit returns the length of the value if it has come to know it, as of an object that it has taken
// the Len of, so that the value need not be gone over again; 0 if not.
func (o Object) Scan(visit func(key []byte, v Value) int) (complete bool) {
	rest := o.walk(visit)
	return len(rest) > 0 && rest[0] == '}' && len(skipSpace(rest[1:])) == 0
}

// Len is the length of the object, well formed down to its members; 0 if it is not, or not closed. The members are given
// to visit on the way, as Scan does it.
func (o Object) Len(visit func(key []byte, v Value) int) int {
	rest := o.walk(visit)
	if len(rest) == 0 || rest[0] != '}' {
		return 0
	}
	return len(o) - len(rest) + 1
}

// What a visitor returns who does not know the length of a value, and who wants no more.
const (
	lengthUnknown = 0
	stopWalk      = -1
)

// walk gives the members to visit and returns the bytes from the closing brace on; nil if it did not get there.
func (o Object) walk(visit func(key []byte, v Value) int) (rest []byte) {
	b := skipSpace(o)
	if len(b) == 0 || b[0] != '{' {
		return nil
	}
	if b = skipSpace(b[1:]); len(b) > 0 && b[0] == '}' {
		return b
	}
	for len(b) > 0 && b[0] == '"' {
		n := stringEnd(b)
		if n < 0 {
			return nil
		}
		key := b[1 : n-1]
		if b = skipSpace(b[n:]); len(b) == 0 || b[0] != ':' {
			return nil
		}
		b = skipSpace(b[1:])
		end := visit(key, Value(b))
		switch {
		case end != lengthUnknown:
		default:
			end = valueEnd(b)
		}
		if end <= 0 {
			return nil
		}
		if b = skipSpace(b[end:]); len(b) > 0 && b[0] == '}' {
			return b
		}
		if len(b) == 0 || b[0] != ',' {
			return nil
		}
		b = skipSpace(b[1:])
	}
	return nil
}

// Value is where a value begins; it reaches to the end of the bytes it was found in.
type Value []byte

// Object gives the value as an object; one without members if it is none.
func (v Value) Object() Object { return Object(v) }

// Raw is the value alone; nil if it is cut or malformed.
func (v Value) Raw() []byte {
	n := valueEnd(v)
	if n < 0 {
		return nil
	}
	return v[:n]
}

// Elements yields the elements if the value is an array.
func (v Value) Elements() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if len(v) == 0 || v[0] != '[' {
			return
		}
		for b := skipSpace(v[1:]); len(b) > 0 && b[0] != ']'; {
			end := valueEnd(b)
			if end < 0 || !yield(Value(b)) {
				return
			}
			if b = skipSpace(b[end:]); len(b) == 0 || b[0] != ',' {
				return
			}
			b = skipSpace(b[1:])
		}
	}
}

// Text decodes a string value, at most limit characters of it (0: all). It is "" for anything else, for a string that
// is cut, and for null. Bytes that are no UTF-8 become U+FFFD.
func (v Value) Text(limit int) string {
	return unquote(v.literal(), limit)
}

// literal is what stands between the quotes of a string value; nil for anything else, and for a string that is cut.
func (v Value) literal() []byte {
	if len(v) == 0 || v[0] != '"' {
		return nil
	}
	n := stringEnd(v)
	if n < 0 {
		return nil
	}
	return v[1 : n-1]
}

// Word is Text(0) of a value that mostly is one of the usual words: those cost no memory.
func (v Value) Word(usual ...string) string {
	for _, w := range usual {
		if end := len(w) + 1; len(v) > end && v[0] == '"' && v[end] == '"' && string(v[1:end]) == w {
			return w
		}
	}
	return v.Text(0)
}

// Int is a whole number; 0 for anything else.
func (v Value) Int() int64 {
	var n int64
	for _, c := range v {
		if c < '0' || c > '9' || n > 1<<53 {
			break
		}
		n = n*10 + int64(c-'0')
	}
	return n
}

// Time is a time in RFC 3339, UTC; zero for anything else.
func (v Value) Time() time.Time {
	var t time.Time
	if err := t.UnmarshalText(v.literal()); err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// skipSpace returns b without the white space that it begins with.
func skipSpace(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t' || b[0] == '\n' || b[0] == '\r') {
		b = b[1:]
	}
	return b
}

// stringEnd returns the length of the string literal that b begins with, quotes included; -1 if it does not end.
func stringEnd(b []byte) int {
	for i := 1; i < len(b); i++ {
		j := bytes.IndexByte(b[i:], '"')
		if j < 0 {
			return -1
		}
		i += j
		escapes := 0
		for b[i-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i + 1
		}
	}
	return -1
}

// valueEnd returns the length of the value that b begins with; -1 if it does not end. Nesting costs no stack.
func valueEnd(b []byte) int {
	if len(b) > 0 && b[0] == '"' {
		return stringEnd(b)
	}
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			n := stringEnd(b[i:])
			if n < 0 {
				return -1
			}
			i += n - 1
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		case ',', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return i
			}
			continue
		default:
			continue
		}
		if depth < 0 {
			return i // the end of what holds the value
		}
		if depth == 0 {
			return i + 1
		}
	}
	return -1
}
