package discover

import (
	"maps"
	"testing"
)

func TestFactsWithoutEmpty(t *testing.T) {
	for _, facts := range []Facts{nil, {}, {"a": "", "b": nil}} {
		if got := facts.WithoutEmpty().With("none", nil); len(got) > 0 {
			t.Errorf("%v: %v", facts, got)
		}
	}
	if got := (Facts{"a": 1, "b": "", "c": false}).WithoutEmpty(); !maps.Equal(got, Facts{"a": 1, "c": false}) {
		t.Error(got)
	}
}

// Facts that others hold are never changed.
func TestFactsAreShared(t *testing.T) {
	first := Facts(nil).With("a", 1)
	second, third := first.With("a", 2).With("b", 2), first.With("b", 3)
	if !maps.Equal(first, Facts{"a": 1}) || !maps.Equal(second, Facts{"a": 2, "b": 2}) || !maps.Equal(third, Facts{"a": 1, "b": 3}) {
		t.Errorf("%v, %v, %v", first, second, third)
	}
}
