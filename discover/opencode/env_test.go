package opencode

import (
	"testing"

	"agentctl/discover"
)

func TestReadMarker(t *testing.T) {
	if mark, ok := New().ReadMarker(func(string) string { return "12" }); mark != (discover.EnvMarker{PID: 12}) || !ok {
		t.Errorf("%+v, %v", mark, ok)
	}
	if mark, ok := New().ReadMarker(func(string) string { return "" }); mark != (discover.EnvMarker{}) || ok {
		t.Errorf("of nothing: %+v, %v", mark, ok)
	}
}
