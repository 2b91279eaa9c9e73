package cli

import (
	"runtime/debug"
	"strings"
	"testing"
)

func TestVersion(t *testing.T) {
	info := &debug.BuildInfo{Main: debug.Module{Version: "v0.1.0"}, Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "abc"}, {Key: "vcs.time", Value: "2026-11-20T00:00:00Z"}, {Key: "vcs.modified", Value: "true"},
	}}
	if b := BuildInfo("", info); b.Version != "v0.1.0" || b.Revision != "abc" || !b.Modified || b.BuiltFrom == "" {
		t.Errorf("%+v", b)
	}
	if text := BuildInfo("", info).Commit(); text != "commit abc with changes, " {
		t.Error(text)
	}
	if b := BuildInfo("v1.2.3", info); b.Version != "v1.2.3" {
		t.Errorf("the stamp does not win: %+v", b)
	}
	if b := BuildInfo("", nil); b.Version != "(devel)" {
		t.Errorf("%+v", b)
	}
	f, out := testEnv(t)
	f.Version = "v1.2.3"
	if Run(t.Context(), f, "version"); !strings.HasPrefix(out.Stdout.String(), "agentctl v1.2.3 (go1.") {
		t.Error(out.Stdout.String())
	}
}
