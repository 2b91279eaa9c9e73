package opencode

import (
	"reflect"
	"testing"
	"time"

	"agentctl/discover"
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
		if got := parsePart([]byte(call)).SilentTooLong(now); got != want {
			t.Errorf("%s: %v", call, got)
		}
	}
}

// What the user is asked about contains the command, the files with the number of their changed lines, or the questions.
func TestWaitingOn(t *testing.T) {
	for call, want := range map[string]discover.WaitingOn{
		`"tool":"bash","state":{"status":"running","input":{"command":"make","description":"d"}}`:                                     {Tool: "bash", Brief: "make"},
		`"tool":"edit","state":{"status":"running","input":{"filePath":"/w/a","oldString":"a\nb","newString":"a"}}`:                   {Tool: "edit", Brief: "/w/a", Path: "/w/a", Diff: &discover.Diff{Removed: new(1)}},
		`"tool":"edit","state":{"status":"running","input":{"filePath":"/w/a","oldString":"","newString":"a"}}`:                       {Tool: "edit", Brief: "/w/a", Path: "/w/a"},
		`"tool":"edit","state":{"status":"running","input":{"filePath":"/w/a","oldString":"a","newString":"b","replaceAll":true}}`:    {Tool: "edit", Brief: "/w/a", Path: "/w/a"},
		`"tool":"write","state":{"status":"running","input":{"filePath":"/w/a","content":"a\nb\n"}}`:                                  {Tool: "write", Brief: "/w/a", Path: "/w/a", Diff: &discover.Diff{Added: 2}},
		`"tool":"apply_patch","state":{"status":"running","input":{"patchText":"*** Begin Patch\n*** Update File: a\n-x\n+y\n+z\n"}}`: {Tool: "apply_patch", Brief: "a", Path: "a", Diff: &discover.Diff{Added: 2, Removed: new(1)}},
		`"tool":"apply_patch","state":{"status":"running","input":{"patchText":"*** Begin Patch\n*** Add File: a\n+y\n*** Delete File: b\n"}}`: {
			Tool: "apply_patch", Brief: "a, b", Diff: &discover.Diff{Added: 1},
		},
		`"tool":"question","state":{"status":"running","input":{"questions":[{"question":"Which?"}]}}`: {Tool: "question", Brief: "Which?", Questions: []string{"Which?"}},
	} {
		if got := parsePart([]byte(`{"type":"tool",` + call + `}`)).WaitingOn(); !reflect.DeepEqual(*got, want) {
			t.Errorf("%s: %+v", call, got)
		}
	}
}
