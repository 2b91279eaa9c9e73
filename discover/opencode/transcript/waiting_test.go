package transcript

import (
	"testing"
	"time"
)

func TestSilentTooLong(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	for call, want := range map[string]bool{
		`{"type":"tool","tool":"bash","state":{"status":"running","time":{"start":900000}}}`:               true,
		`{"type":"tool","tool":"bash","state":{"status":"running","metadata":{},"time":{"start":900000}}}`: false,
		`{"type":"tool","tool":"bash","state":{"status":"running","time":{"start":999500}}}`:               false,
		`{"type":"tool","tool":"bash","state":{"status":"pending","time":{"start":900000}}}`:               false,
		`{"type":"tool","tool":"bash","state":{"status":"running"}}`:                                       false,
		`{"type":"tool","tool":"webfetch","state":{"status":"running","time":{"start":900000}}}`:           false,
		`{"type":"tool","tool":"webfetch","state":{"status":"running","time":{"start":800000}}}`:           true,
		`{"type":"tool","tool":"myserver_search","state":{"status":"running","time":{"start":1}}}`:         false,
	} {
		if got := ParsePart([]byte(call)).SilentTooLong(now); got != want {
			t.Errorf("%s: %v", call, got)
		}
	}
}
