package render_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/discover/watch"
	"agentctl/internal/object"
	"agentctl/tests/schema"
)

func TestSchemaAcceptsOutput(t *testing.T) {
	for _, s := range []discover.Session{completeSession(), stoppedSession(), unidentifiedSession()} {
		for _, explain := range []*object.Explanation{nil, object.Explain(s)} {
			obj := object.NewSession(s)
			obj.Explain = explain
			if err := schema.Check("session", text(t, obj)); err != nil {
				t.Errorf("%s: %v", text(t, obj), err)
			}
		}
	}
}

func TestSchemaAcceptsEvents(t *testing.T) {
	gone := unidentifiedSession()
	gone.Status, gone.Outcome = discover.Stopped, discover.OutcomeUnknown
	for _, s := range []discover.Session{completeSession(), stoppedSession(), unidentifiedSession(), gone} {
		obj := object.NewEvent(watch.SessionStopped, now, object.NewSession(s))
		if err := schema.Check("event", text(t, obj)); err != nil {
			t.Errorf("%s: %v", text(t, obj), err)
		}
	}
}

func TestSchemaRejects(t *testing.T) {
	for _, bad := range []string{
		`{}`,
		`{"id":"x","adapter":"codex","status":"idle"}`,
		`{"id":"x","adapter":"codex","status":"asleep","meta":{}}`,
		`{"id":"","adapter":"codex","status":"idle","meta":{}}`,
		`{"id":"x","adapter":"codex","status":"stopped","meta":{}}`,
		`{"id":"x","adapter":"codex","status":"stopped","outcome":"completed","pid":3,"meta":{}}`,
		`{"id":null,"adapter":"codex","status":"stopped","outcome":"completed","meta":{}}`,
		`{"id":"x","adapter":"codex","status":"idle","outcome":"completed","meta":{}}`,
		`{"id":"x","adapter":"codex","status":"idle","startedAt":"2026-11-20T10:00:00Z","meta":{}}`,
		`{"id":"x","adapter":"codex","status":"idle","pid":0,"meta":{}}`,
	} {
		if schema.Check("session", bad) == nil {
			t.Errorf("%s passed", bad)
		}
	}
}

// A program that validates output with the schema of an older version must accept new members.
func TestSchemaAllowsNewMembers(t *testing.T) {
	if n := strings.Count(object.Schema(), `"additionalProperties": false`); n > 0 {
		t.Errorf("%d objects are closed", n)
	}
	var doc struct {
		ID string `json:"$id"`
	}
	if err := json.Unmarshal([]byte(object.Schema()), &doc); err != nil || !regexp.MustCompile(`^urn:agentctl:schema:[0-9]+$`).MatchString(doc.ID) {
		t.Errorf("$id %q has no version (%v)", doc.ID, err)
	}
	const gained = `{"id":"x","adapter":"codex","status":"idle","meta":{},"colour":"red"}`
	if err := schema.Published("session", gained); err != nil {
		t.Error(err)
	}
	if schema.Check("session", gained) == nil {
		t.Error("the check of our own output does not see a member that the schema does not have")
	}
}

// The schema, which is maintained by hand, has exactly the fields of the structs.
func TestSchemaHasStructFields(t *testing.T) {
	var doc struct {
		Defs map[string]node `json:"$defs"`
	}
	if err := json.Unmarshal([]byte(object.Schema()), &doc); err != nil {
		t.Fatal(err)
	}
	session := doc.Defs["session"].Properties
	for _, tc := range []struct {
		what string
		node node
		of   reflect.Type
	}{
		{"session", doc.Defs["session"], reflect.TypeFor[object.Session]()},
		{"tokens", session["tokens"], reflect.TypeFor[object.Tokens]()},
		{"quota", *session["quotas"].Items, reflect.TypeFor[object.Quota]()},
		{"changes", session["changes"], reflect.TypeFor[object.Changes]()},
		{"process", doc.Defs["process"], reflect.TypeFor[object.Process]()},
		{"evidence", session["evidence"], reflect.TypeFor[object.Evidence]()},
		{"explain", session["explain"], reflect.TypeFor[object.Explanation]()},
		{"event", doc.Defs["event"], reflect.TypeFor[object.Event]()},
		{"message", doc.Defs["message"], reflect.TypeFor[object.Message]()},
		{"tool", doc.Defs["message"].Properties["tool"], reflect.TypeFor[object.ToolCall]()},
		{"worktree", doc.Defs["worktree"], reflect.TypeFor[object.Worktree]()},
		{"hook", doc.Defs["hook"], reflect.TypeFor[object.GitHook]()},
		{"clean", doc.Defs["clean"], reflect.TypeFor[object.CleanResult]()},
		{"clean reason", *doc.Defs["clean"].Properties["reasons"].Items, reflect.TypeFor[object.CleanReason]()},
		{"request", doc.Defs["request"], reflect.TypeFor[object.Request]()},
		{"question", *doc.Defs["request"].Properties["questions"].Items, reflect.TypeFor[object.Question]()},
		{"launch", doc.Defs["launch"], reflect.TypeFor[object.LaunchResult]()},
		{"match", doc.Defs["match"], reflect.TypeFor[object.SearchMatch]()},
		{"span", doc.Defs["span"], reflect.TypeFor[object.SearchSpan]()},
		{"export", doc.Defs["export"], reflect.TypeFor[object.Export]()},
		{"usage", doc.Defs["usage"], reflect.TypeFor[object.Usage]()},
		{"usage row", doc.Defs["usageRow"], reflect.TypeFor[object.UsageRow]()},
		{"du", doc.Defs["du"], reflect.TypeFor[object.DiskUsage]()},
		{"du row", doc.Defs["duRow"], reflect.TypeFor[object.DiskRow]()},
		{"du part", *doc.Defs["duRow"].Properties["parts"].Items, reflect.TypeFor[object.DiskPart]()},
		{"managed", doc.Defs["managedSession"], reflect.TypeFor[object.StoredResult]()},
		{"resume", doc.Defs["resume"], reflect.TypeFor[object.ResumeResult]()},
		{"limit", doc.Defs["limit"], reflect.TypeFor[object.UsageLimit]()},
		{"lock", doc.Defs["lock"], reflect.TypeFor[object.Lock]()},
		{"error", doc.Defs["error"].Properties["error"], reflect.TypeFor[object.Error]()},
		{"warning", doc.Defs["warning"].Properties["warning"], reflect.TypeFor[object.Warning]()},
		{"stop", doc.Defs["stop"], reflect.TypeFor[object.StopResult]()},
		{"signal", doc.Defs["signal"], reflect.TypeFor[object.Signal]()},
		{"considered", *session["explain"].Properties["considered"].Items, reflect.TypeFor[object.ConsideredEvidence]()},
	} {
		var want []string
		for _, f := range reflect.VisibleFields(tc.of) {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "-" && !f.Anonymous {
				want = append(want, name)
			}
		}
		slices.Sort(want)
		if got := slices.Sorted(maps.Keys(tc.node.Properties)); !slices.Equal(got, want) {
			t.Errorf("%s: schema has %v, struct %v", tc.what, got, want)
		}
	}
}

type node struct {
	Properties map[string]node
	Items      *node
}
