package discover

import (
	"encoding/json"
	"strings"
	"testing"
)

// Facts are what a map with the same content is, in the order in which JSON has it. Markup stands as it is, as the encoder asks for it.
func TestFactsAreAMapInOrder(t *testing.T) {
	for _, test := range []struct {
		facts Facts
		want  string
	}{
		{nil, `{}`},
		{Facts{}, `{}`},
		{Facts{{"a", ""}, {"b", nil}}, `{}`},
		{Facts{{"b", 1}, {"<a>", "<&>"}, {"b", false}, {"b", ""}}, `{"<a>":"<&>","b":false}`},
	} {
		for _, got := range []Facts{test.facts.WithoutEmpty(), test.facts.WithoutEmpty().With("none", nil)} {
			var b strings.Builder
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(false)
			if err := enc.Encode(got); err != nil || strings.TrimSpace(b.String()) != test.want {
				t.Errorf("%s (%v), want %s", b.String(), err, test.want)
			}
			var read Facts
			if err := json.Unmarshal([]byte(test.want), &read); err != nil || len(read) != len(got) || read.Get("b") != got.Get("b") {
				t.Errorf("%s read as %v (%v)", test.want, read, err)
			}
		}
	}
}

// A list that others hold is never changed, not even in the room behind it.
func TestFactsAreShared(t *testing.T) {
	first := make(Facts, 0, 4).With("a", 1)
	second, third := first.With("a", 2).With("b", 2), first.With("b", 3)
	if first.Get("a") != 1 || first.Get("b") != nil || second.Get("a") != 2 || second.Get("b") != 2 || third.Get("b") != 3 {
		t.Errorf("%v, %v, %v", first, second, third)
	}
}
