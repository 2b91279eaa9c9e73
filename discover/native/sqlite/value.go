package sqlite

import (
	"bytes"
	"cmp"
	"math"
	"strconv"
	"strings"
)

// kind is the storage class of a value, in the order in which SQLite sorts them.
type kind byte

const (
	nullKind kind = iota
	intKind
	realKind
	textKind
	blobKind
)

// value is a value as it is stored. Of a text or blob, bytes may hold the beginning only; size is its length.
type value struct {
	kind  kind
	n     int64
	f     float64
	bytes []byte
	size  int64
}

func integer(n int64) value { return value{kind: intKind, n: n} }

// real is a number with a fraction; there is no NaN in SQLite.
func real(f float64) value {
	if math.IsNaN(f) {
		return value{}
	}
	return value{kind: realKind, f: f}
}

func text(s string) value { return value{kind: textKind, bytes: []byte(s), size: int64(len(s))} }

// compare sorts values as SQLite does without a collation.
func (v value) compare(w value) int {
	if v.isNumber() && w.isNumber() {
		return compareNumbers(v, w)
	}
	if c := cmp.Compare(v.kind, w.kind); c != 0 {
		return c
	}
	return bytes.Compare(v.bytes, w.bytes)
}

func (v value) isNumber() bool { return v.kind == intKind || v.kind == realKind }

func compareNumbers(v, w value) int {
	switch {
	case v.kind == intKind && w.kind == intKind:
		return cmp.Compare(v.n, w.n)
	case v.kind == realKind && w.kind == realKind:
		return cmp.Compare(v.f, w.f)
	case v.kind == realKind:
		return -compareNumbers(w, v)
	}
	// An integer of 64 bits and a real: what the integer has more than a real can hold decides last.
	if w.f >= 1<<63 {
		return -1
	}
	if w.f < -1<<63 {
		return 1
	}
	if c := cmp.Compare(v.n, int64(w.f)); c != 0 {
		return c
	}
	return cmp.Compare(math.Trunc(w.f), w.f)
}

// asText is the value as CAST(… AS TEXT) gives it.
func (v *value) asText() []byte {
	switch v.kind {
	case intKind:
		return strconv.AppendInt(nil, v.n, 10)
	case realKind:
		return []byte(formatReal(v.f))
	}
	return v.bytes
}

// formatReal writes a number with as many digits as tell it from others, and as one with a fraction. SQLite's own digits
// are 15 or 17, by its version.
func formatReal(f float64) string {
	if math.IsInf(f, 0) {
		return strings.TrimPrefix(strconv.FormatFloat(f, 'g', -1, 64), "+")
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
	if e, _ := strconv.Atoi(exponent); e < -4 || e > 16 {
		return fraction(mantissa) + "e" + exponent
	}
	return fraction(strconv.FormatFloat(f, 'f', -1, 64))
}

func fraction(s string) string {
	if strings.Contains(s, ".") {
		return s
	}
	return s + ".0"
}

// asInt is the value as CAST(… AS INTEGER) gives it, 0 for null.
func (v *value) asInt() int64 {
	switch v.kind {
	case nullKind:
		return 0
	case intKind:
		return v.n
	case realKind:
		return truncate(v.f)
	}
	s, _ := numberPrefix(string(v.bytes))
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil && s == "" {
		return 0
	}
	return n // the nearest one where it is out of range
}

func truncate(f float64) int64 {
	switch {
	case f >= 1<<63:
		return math.MaxInt64
	case f < -1<<63:
		return math.MinInt64
	}
	return int64(f)
}

// asReal is the value as CAST(… AS REAL) gives it, 0 for null.
func (v *value) asReal() float64 {
	switch v.kind {
	case nullKind:
		return 0
	case intKind:
		return float64(v.n)
	case realKind:
		return v.f
	}
	_, s := numberPrefix(string(v.bytes))
	f, _ := strconv.ParseFloat(s, 64) // infinite where it is out of range
	return f
}

// numberPrefix finds the longest beginning of a text that is a whole number, and that is a number; "" for none.
func numberPrefix(s string) (whole, number string) {
	s = strings.TrimLeft(s, " \t\n\v\f\r")
	n := sign(s)
	end := n + digits(s[n:])
	found := end > n
	if found {
		whole = s[:end]
	}
	if rest := s[end:]; strings.HasPrefix(rest, ".") {
		fraction := digits(rest[1:])
		if found = found || fraction > 0; found {
			end += 1 + fraction
		}
	}
	if !found {
		return "", ""
	}
	if rest := s[end:]; rest != "" && rest[0]|0x20 == 'e' {
		after := 1 + sign(rest[1:])
		if more := digits(rest[after:]); more > 0 {
			end += after + more
		}
	}
	return whole, s[:end]
}

func sign(s string) int {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		return 1
	}
	return 0
}

func digits(s string) int { return len(s) - len(strings.TrimLeft(s, "0123456789")) }
