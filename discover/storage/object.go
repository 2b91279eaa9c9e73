package storage

import (
	"bytes"
	"encoding/json"
	"iter"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// Object is one JSON object, read in place: a member is found without decoding, copying or checking the others. Lines of
// transcripts have megabytes of text around a few short facts.
type Object []byte

// Members yields the keys, undecoded, and the values of the object in order. It stops where the bytes are not an object
// any more; the members before that are valid. Only the last value may be truncated, and only if it is an object: its own
// members can still be read. Compare a key by string(key) == "…", which copies nothing.
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

// Get returns the value of the first member with that name; nil if there is none.
func (o Object) Get(name string) Value {
	for key, value := range o.Members() {
		if string(key) == name {
			return value
		}
	}
	return nil
}

// First returns the value of the first of these names that the object has; nil if it has none.
func (o Object) First(names ...string) Value {
	for _, name := range names {
		if v := o.Get(name); v != nil {
			return v
		}
	}
	return nil
}

// FirstText returns the first of these members that is a string with a character in it, or a list of questions, of which the first one
// counts; "" if none is.
func (o Object) FirstText(names ...string) string {
	for _, name := range names {
		v := o.Get(name)
		for question := range v.Elements() {
			v = question.Object().Get("question")
			break
		}
		if text := v.Text(0); text != "" {
			return text
		}
	}
	return ""
}

// Complete reports whether the object is well formed down to its members, closed, and followed by nothing. Two lines that
// a crash has joined are not.
func (o Object) Complete() bool { return o.Scan(func([]byte, Value) int { return lengthUnknown }) }

// Damaged reports whether a terminated line is not JSON: truncated, overwritten or joined with another line by a crash. A
// blank line is not damaged.
func Damaged(line []byte) bool {
	return len(skipSpace(line)) > 0 && !Object(line).Complete() && !json.Valid(line)
}

// Scan calls visit with each member as Members yields them, and reports whether the object is Complete, in one pass over
// the bytes. visit returns the length of the value if it knows it, for example from Len, so that the value is not scanned
// again; 0 if not. What was overwritten with zeros is not complete.
func (o Object) Scan(visit func(key []byte, v Value) int) (complete bool) {
	rest := o.walk(visit)
	return len(rest) > 0 && rest[0] == '}' && len(skipSpace(rest[1:])) == 0 && bytes.IndexByte(o, 0) < 0
}

// Len returns the length of the object, which is well formed down to its members; 0 if it is not, or not closed. It calls
// visit with each member as Scan does.
func (o Object) Len(visit func(key []byte, v Value) int) int {
	rest := o.walk(visit)
	if len(rest) == 0 || rest[0] != '}' {
		return 0
	}
	return len(o) - len(rest) + 1
}

// Results of a visitor that does not know the length of a value, and of one that wants no more members.
const (
	lengthUnknown = 0
	stopWalk      = -1
)

// walk calls visit with each member and returns the bytes from the closing brace on; nil if it did not get there.
func (o Object) walk(visit func(key []byte, v Value) int) (rest []byte) {
	b := skipSpace(bytes.TrimPrefix(o, []byte(byteOrderMark)))
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
		if end == lengthUnknown {
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

// Value starts with a JSON value; it extends to the end of the bytes that the value was found in.
type Value []byte

// Object returns the value as an object, which has no members if the value is not an object.
func (v Value) Object() Object { return Object(v) }

// Raw returns the bytes of the value alone; nil if it is truncated or malformed.
func (v Value) Raw() []byte {
	n := valueEnd(v)
	if n < 0 {
		return nil
	}
	return v[:n]
}

// Elements yields the elements of an array; none for any other value.
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

// Text decodes a string, at most limit characters of it (0: all). It returns "" for any other value and for a truncated
// string. Invalid UTF-8 becomes U+FFFD.
func (v Value) Text(limit int) string {
	return unquote(v.literal(), limit)
}

// literal returns the bytes between the quotes of a string; nil for any other value and for a truncated string.
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

// Word is Text(0) of a value that is mostly one of a few words: those are returned without an allocation.
func (v Value) Word(usual ...string) string {
	for _, w := range usual {
		if end := len(w) + 1; len(v) > end && v[0] == '"' && v[end] == '"' && string(v[1:end]) == w {
			return w
		}
	}
	return v.Text(0)
}

// Int returns a non-negative integer; 0 for any other value.
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

// Float returns a number; 0 for any other value.
func (v Value) Float() float64 {
	f, err := strconv.ParseFloat(string(v.Raw()), 64)
	if err != nil || math.IsNaN(f) {
		return 0
	}
	return f
}

// IsTrue reports whether the value is true.
func (v Value) IsTrue() bool { return bytes.HasPrefix(v, []byte("true")) }

// Time returns a time in RFC 3339, in UTC; zero for any other value.
func (v Value) Time() time.Time {
	var t time.Time
	if err := t.UnmarshalText(v.literal()); err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// skipSpace returns b without leading white space.
func skipSpace(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t' || b[0] == '\n' || b[0] == '\r') {
		b = b[1:]
	}
	return b
}

// stringEnd returns the length of the string literal that b starts with, quotes included; -1 if it does not end.
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

// valueEnd returns the length of the value that b starts with; -1 if it does not end. Nesting takes no stack.
func valueEnd(b []byte) int {
	if len(b) > 0 && b[0] == '"' {
		return stringEnd(b)
	}
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case ':', '-', '+', '.', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'E', 'a', 'e', 'f', 'l', 'n', 'r', 's', 't', 'u':
			continue
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
		default: // what was within strings seems to be outside of them where a string was cut off
			return -1
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

// unquote decodes the bytes between the quotes of a string literal, at most limit characters (0: all); "" if they are no literal.
func unquote(b []byte, limit int) string {
	if bytes.IndexByte(b, '\\') >= 0 || !utf8.Valid(b) {
		var text string
		if json.Unmarshal(slices.Concat([]byte{'"'}, b, []byte{'"'}), &text) != nil {
			return ""
		}
		b = []byte(text)
	}
	if limit == 0 || len(b) <= limit {
		return string(b)
	}
	end := 0
	for n := 0; n < limit && end < len(b); n++ {
		_, size := utf8.DecodeRune(b[end:])
		end += size
	}
	return string(b[:end])
}
