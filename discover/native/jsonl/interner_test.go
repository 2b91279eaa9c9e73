package jsonl

import (
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestInternIsText: the result is that of Text, whatever was interned before.
func TestInternIsText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		literals := rapid.OneOf(
			rapid.Map(rapid.String(), strconv.Quote),
			rapid.StringMatching(`"[ab]{0,2}(\\n|\\u00e9|\\"|é)?"?`),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return `"` + string(b) + `"` }),
			rapid.SampledFrom([]string{"", "null", "1", `"`, `"a" `, `"` + strings.Repeat("a", maxInterned+1) + `"`}),
		)
		var some Interner
		for _, literal := range rapid.SliceOfN(literals, 1, 50).Draw(t, "literals") {
			want := Value(literal).Text(0)
			for _, texts := range []*Interner{&some, nil} {
				if got := texts.Intern(Value(literal)); got != want {
					t.Fatalf("%s is %q, want %q", literal, got, want)
				}
				if got := texts.Value(want); got != want {
					t.Fatalf("%q became %q", want, got)
				}
			}
		}
	})
}

// TestInternDoesNotAllocate for a text that it remembers, even if the bytes of the first one were overwritten.
func TestInternDoesNotAllocate(t *testing.T) {
	var texts Interner
	literal := []byte(`"/home/me/project-0001"`)
	first := texts.Intern(literal)
	again := []byte(string(literal))
	clear(literal)
	count := testing.AllocsPerRun(10, func() {
		if texts.Intern(again) != first || texts.Value(first) != first {
			t.Error("another text")
		}
	})
	if count != 0 {
		t.Errorf("%v allocations", count)
	}
}
