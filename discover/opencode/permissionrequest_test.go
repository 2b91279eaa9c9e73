package opencode

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
)

const requestLine = lineStart + "message=asking id=per_1fa677ca6001SK5QCYOjgbhRYQ permission="

func TestARequestForPermissionIsForACall(t *testing.T) {
	asked := lineTime([]byte(lineStart))
	call := func(tool string, later time.Duration) part {
		return part{Tool: tool, Started: asked.Add(later).UnixMilli()}
	}
	for i, c := range []struct {
		line string
		part part
		want bool
	}{
		{`bash patterns="[\"sleep 33\"]"`, call("bash", 0), true},
		{`bash patterns="[\"sleep 33\"]"`, call("bash", time.Millisecond), true}, // the request is logged while its call is stored
		{`bash patterns="[\"sleep 33\"]"`, call("bash", requestLead+time.Millisecond), false},
		{`bash patterns="[\"sleep 33\"]"`, call("write", 0), false},
		{`edit patterns="[\"a.txt\"]"`, call("write", 0), true},
		{`external_directory patterns="[\"/etc/*\"]"`, call("write", 0), true},
		{`task patterns="[\"general\"]"`, call("task", 0), true},
	} {
		run, r := parsePermissionRequest([]byte(requestLine + c.line))
		if run != "e5f72788" || !r.at.Equal(asked) || r.matches(c.part) != c.want {
			t.Errorf("%d: %s by run %q is for %+v: %v", i, c.line, run, c.part, !c.want)
		}
	}
}

// A call that has not reported waits for permission only if its process has asked for it: on a busy machine commands begin late.
func TestASilentCallWaitsOnlyIfItsProcessAsks(t *testing.T) {
	dir := capture(t, "raw-tui-permission-pending")
	log, err := os.ReadFile(filepath.Join(dir, "opencode.log"))
	if err != nil {
		t.Fatal(err)
	}
	asks, _, _ := strings.Cut(string(log), "message=asking id=per_")
	silent := asks[:strings.LastIndex(asks, "\n")+1]
	mkdir(t, filepath.Join(dir, "log"))
	for name, c := range map[string]struct {
		log   string
		args  []string
		waits bool
	}{
		"asks":                     {string(log), nil, true},
		"does not ask":             {silent, nil, false},
		"a server asks":            {string(log), []string{"serve"}, true},
		"refuses by itself":        {string(log), []string{"run", "x"}, false},
		"another process asks":     {silent + strings.ReplaceAll(string(log[len(silent):]), "run=", "run=x"), nil, false},
		"its log is turned down":   {"", []string{"-s", "ses_e05988da6ffeaSNInL2Awlo4TA", "--log-level", "ERROR"}, true},
		"turned down, and refuses": {"", []string{"run", "-s", "ses_e05988da6ffeaSNInL2Awlo4TA", "--log-level", "ERROR"}, false},
	} {
		writeFile(t, filepath.Join(dir, "log", "opencode.log"), []byte(c.log))
		offset := int64(min(len(c.log), len(silent)))
		if c.log == string(log) {
			offset = int64(len(log))
		}
		claims := claimed(t, withLog(agent(1, at(t, "19:20:30"), c.args...), dir, offset))[1]
		if len(claims) != 2 {
			t.Fatalf("%s: claims %+v", name, claims)
		}
		turn := claims[1].Turn
		if got := turn != nil && turn.State == discover.TurnWaiting && turn.WaitingFor == "permission"; got != c.waits {
			t.Errorf("%s: turn %+v", name, turn)
		}
		if c.waits && turn != nil && !reflect.DeepEqual(turn.WaitingOn, &discover.WaitingOn{Tool: "bash", Brief: "sleep 33"}) {
			t.Errorf("%s: it waits on %+v", name, turn.WaitingOn)
		}
	}
}

// The summary of a call that writes a file is the path.
func TestWaitingOnAFile(t *testing.T) {
	p := parsePart([]byte(`{"type":"tool","tool":"write","state":{"status":"running","input":{"content":"x","filePath":"/w/a.go"},"time":{"start":1}}}`))
	if got, want := p.WaitingOn(), (&discover.WaitingOn{Tool: "write", Brief: "/w/a.go", Path: "/w/a.go", Diff: &discover.Diff{Added: 1}}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}
