package sqlite

import (
	"math"
	"strconv"
	"strings"
)

// affinity is what a column makes of the values that are put into it (sqlite.org/datatype3.html, 3).
type affinity byte

const (
	noAffinity affinity = iota
	textAffinity
	numericAffinity
	integerAffinity
	realAffinity
)

// affinityOf follows the rules of section 3.1, in their order.
func affinityOf(declared string) affinity {
	declared = strings.ToUpper(declared)
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(declared, w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("INT"):
		return integerAffinity
	case has("CHAR", "CLOB", "TEXT"):
		return textAffinity
	case declared == "" || has("BLOB"):
		return noAffinity
	case has("REAL", "FLOA", "DOUB"): //nolint:misspell // so the format says
		return realAffinity
	}
	return numericAffinity
}

// apply gives the value as the column would have stored it.
func (a affinity) apply(v value) value {
	switch {
	case a == textAffinity && v.isNumber():
		return text(string(v.asText()))
	case a < numericAffinity:
		return v
	case v.kind == textKind:
		v = numeric(v)
	}
	switch {
	case a == realAffinity && v.kind == intKind:
		return real(float64(v.n))
	case a != realAffinity && v.kind == realKind && v.f == math.Trunc(v.f) && math.Abs(v.f) < 1<<63:
		return integer(int64(v.f))
	}
	return v
}

// numeric makes a number of a text that is one from end to end.
func numeric(v value) value {
	s := strings.Trim(string(v.bytes), " \t\n\v\f\r")
	whole, number := numberPrefix(s)
	if number == "" || number != s {
		return v
	}
	if n, err := strconv.ParseInt(whole, 10, 64); err == nil && whole == number {
		return integer(n)
	}
	f, _ := strconv.ParseFloat(number, 64)
	return real(f)
}
