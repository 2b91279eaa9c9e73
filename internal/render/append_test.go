package render

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"agentctl/discover"
)

// plainSession is a session that encoding/json writes by itself.
type plainSession Session

// texts draws what transcripts hold at their worst.
func texts() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.String(),
		rapid.StringMatching(`[a-z "\\/<>&]*`),
		rapid.StringOfN(rapid.RuneFrom([]rune("a\x00\x1b\x7f\u0085\u200b\u200d\u2028\u2029\u202e\ufeff\ufffd\U0001f468\U000e0001\b\f\n\r\t")), 0, 8, -1),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
	)
}

// values draws what a meta may hold.
func values() *rapid.Generator[any] {
	return rapid.OneOf(
		texts().AsAny(), rapid.Bool().AsAny(), rapid.Int().AsAny(), rapid.Int64().AsAny(),
		rapid.Float64().AsAny(), rapid.SliceOf(rapid.Int()).AsAny(),
		rapid.MapOf(texts(), texts()).AsAny(), rapid.Just[any](nil),
	)
}

// sessions draws every field by its type, so that a new one cannot be forgotten.
func sessions() *rapid.Generator[Session] {
	return rapid.Custom(func(t *rapid.T) (s Session) {
		fill(t, reflect.ValueOf(&s).Elem())
		return s
	})
}

func fill(t *rapid.T, v reflect.Value) {
	for field, value := range v.Fields() {
		switch to := value.Addr().Interface().(type) {
		case *string:
			*to = texts().Draw(t, field.Name)
		case **string:
			*to = rapid.Ptr(texts(), true).Draw(t, field.Name)
		case *int:
			*to = rapid.Int().Draw(t, field.Name)
		case *int64:
			*to = rapid.Int64().Draw(t, field.Name)
		case *[]int:
			*to = rapid.SliceOf(rapid.Int()).Draw(t, field.Name)
		case **float64:
			*to = rapid.Ptr(rapid.Float64(), true).Draw(t, field.Name)
		case *discover.Facts:
			for name, value := range rapid.MapOf(texts(), values()).Draw(t, field.Name) {
				*to = to.With(name, value)
			}
		case *bool:
			*to = rapid.Bool().Draw(t, field.Name)
		case **int:
			*to = rapid.Ptr(rapid.Int(), true).Draw(t, field.Name)
		case **int64:
			*to = rapid.Ptr(rapid.Int64(), true).Draw(t, field.Name)
		case *[]string:
			*to = rapid.SliceOf(texts()).Draw(t, field.Name)
		case *[]Considered:
		case *[]Process, *[]Quota:
			value.Set(reflect.MakeSlice(value.Type(), rapid.IntRange(0, 2).Draw(t, field.Name), 2))
			for i := range value.Len() {
				fill(t, value.Index(i))
			}
		default: // a pointer to an object
			if rapid.Bool().Draw(t, field.Name) {
				value.Set(reflect.New(value.Type().Elem()))
				fill(t, value.Elem())
			}
		}
	}
}

// A row of a list is, byte for byte, what encoding/json makes of the contract's struct.
func TestRowsAreWhatTheContractSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := sessions().Draw(t, "session")
		got, err := s.appendJSON(nil)
		want, wantErr := marshal(plainSession(s), "")
		if !bytes.Equal(got, want) || (err == nil) != (wantErr == nil) {
			t.Fatalf("got  %s (%v)\nwant %s (%v)", got, err, want, wantErr)
		}
		if err == nil && !json.Valid(got) {
			t.Fatalf("not JSON: %s", got)
		}
	})
}

// A byte that a literal does not hold as it is is found wherever it stands, whatever stands after it.
func TestPlainLenLooksAtEveryByte(t *testing.T) {
	for _, length := range []int{1, 7, 8, 9, 15, 16, 17, 20, 24, 33} {
		for at := range length {
			for c := range 256 {
				for _, rest := range []byte(" a~\x00\"") {
					b := append(bytes.Repeat([]byte{'a'}, at), bytes.Repeat([]byte{rest}, length-at)...)
					b[at] = byte(c)
					want := at
					for want < length && ' ' <= b[want] && b[want] <= '~' && b[want] != '"' && b[want] != '\\' {
						want++
					}
					if got := plainLen(string(b)); got != want {
						t.Fatalf("%q: %d, want %d", b, got, want)
					}
				}
			}
		}
	}
}

func TestOrdinaryIsNeverHazardous(t *testing.T) {
	for r := range rune(unicode.MaxRune + 1) {
		if ordinary(r) && unicode.In(
			r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp,
			unicode.Noncharacter_Code_Point, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector,
		) {
			t.Errorf("%U", r)
		}
	}
}
