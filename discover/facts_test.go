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
