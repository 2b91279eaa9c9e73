package discover

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawFacts draws facts as an adapter may list them: in any order, some of them twice or not known.
func drawFacts() *rapid.Generator[Facts] {
	names := rapid.OneOf(rapid.SampledFrom([]string{"a", "b", "c"}), rapid.String())
	values := rapid.OneOf(rapid.SampledFrom([]any{nil, "", 0, false, 1.5, []int{1}, map[string]any{"x": "<"}}), rapid.String().AsAny())
	fact := rapid.Custom(func(t *rapid.T) Fact { return Fact{names.Draw(t, "name"), values.Draw(t, "value")} })
	return rapid.Map(rapid.SliceOf(fact), func(list []Fact) Facts { return list })
}

// asMap returns the facts as a map, the reference.
func asMap(facts Facts) map[string]any {
	m := map[string]any{}
	for _, f := range facts {
		if f.Value != nil && f.Value != "" {
			m[f.Name] = f.Value
		}
	}
	return m
}

// toJSON returns the JSON of a value.
func toJSON(t *rapid.T, v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Facts are what a map with the same content is, in the order in which JSON has it.
func TestFactsAreAMapInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		listed := drawFacts().Draw(t, "facts")
		var grown Facts
		for _, f := range listed {
			grown = grown.With(f.Name, f.Value)
		}
		want := asMap(listed)
		for _, got := range []Facts{listed.WithoutEmpty(), grown} {
			if len(got) != len(want) || toJSON(t, got) != toJSON(t, want) {
				t.Fatalf("%s, want %s", toJSON(t, got), toJSON(t, want))
			}
			if !slices.IsSortedFunc(got, func(a, b Fact) int { return strings.Compare(a.Name, b.Name) }) {
				t.Fatalf("not in order: %v", got)
			}
			for _, f := range listed {
				if toJSON(t, got.Get(f.Name)) != toJSON(t, want[f.Name]) {
					t.Fatalf("%q is %v, want %v", f.Name, got.Get(f.Name), want[f.Name])
				}
			}
			var read Facts
			if err := json.Unmarshal([]byte(toJSON(t, got)), &read); err != nil || toJSON(t, read) != toJSON(t, got) {
				t.Fatalf("%s read as %v (%v)", toJSON(t, got), read, err)
			}
		}
	})
}

// A list that others hold is never changed, not even in the room behind it.
func TestFactsAreShared(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := slices.Grow(drawFacts().Draw(t, "facts").WithoutEmpty(), 2)
		before, room := toJSON(t, first), toJSON(t, first[:cap(first)])
		second := first.With("a", "of the second").With("b", "of the second")
		third := first.With("a", "of the third")
		if second.Get("a") != "of the second" || third.Get("a") != "of the third" {
			t.Fatalf("%v and %v", second, third)
		}
		if toJSON(t, first) != before || toJSON(t, first[:cap(first)]) != room {
			t.Fatalf("%v was %s", first, before)
		}
	})
}

func TestNoFacts(t *testing.T) {
	for _, none := range []Facts{nil, {}, Facts{{"a", ""}, {"b", nil}}.WithoutEmpty(), Facts(nil).With("a", "")} {
		text, err := json.Marshal(struct{ Meta Facts }{none})
		if string(text) != `{"Meta":{}}` || err != nil || none.Get("a") != nil || len(none.WithoutEmpty()) != 0 {
			t.Errorf("%s, %v", text, err)
		}
	}
}

// Markup stands as it is in JSON that is not for HTML, as in a map.
func TestFactsLeaveMarkupToTheEncoder(t *testing.T) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(Facts{{"<a>", "<&>"}}); err != nil || b.String() != `{"<a>":"<&>"}`+"\n" {
		t.Errorf("%s, %v", b.String(), err)
	}
	if text, err := json.Marshal(Facts{{"a", make(chan int)}}); err == nil {
		t.Errorf("a value that is no JSON became %s", text)
	}
}
