package opencode

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native"
	"agentctl/discover/native/jsonl"
)

// tool makes a message of a tool call. One part has the call and its result.
func (b *messageBuilder) tool(id string, o jsonl.Object) transcriptItem {
	call := discover.ToolCall{ID: o.Get("callID").Text(nameLimit), Name: o.Get("tool").Text(nameLimit)}
	state := o.Get("state").Object()
	parseCallState(&call, state)
	call.Brief = cmp.Or(brief(call), state.Get("title").Text(errorLimit))
	m := b.newItem(id, discover.KindTool, state.Get("time").Object().Get("start").Int(), "")
	m.Tool = &call
	return m
}

// parseCallState parses the state of a call: {"status","input","output","error","title","metadata","time"}. The metadata has the
// output of a running shell command so far.
func parseCallState(call *discover.ToolCall, o jsonl.Object) {
	call.Input = rawJSON(o.Get("input"))
	switch o.Get("status").Text(nameLimit) {
	case "completed":
		call.State, call.Output = discover.ToolDone, o.Get("output").Text(0)
	case "error":
		call.State, call.Output = discover.ToolFailed, o.Get("error").Text(0)
		if isRefusal(call.Output) {
			call.State = discover.ToolRefused
		}
	default:
		call.State, call.Output = discover.ToolOpen, o.Get("metadata").Object().Get("output").Text(0)
	}
}

// rawJSON returns a copy of a value. It quotes what is not valid JSON.
func rawJSON(v jsonl.Value) json.RawMessage {
	raw := bytes.Clone(v.Raw())
	if len(raw) == 0 || json.Valid(raw) {
		return raw
	}
	quoted, _ := json.Marshal(string(raw)) // a string can always be marshalled
	return quoted
}

// brief returns the argument that describes a call best: of the names that tools use for their arguments, the first.
func brief(call discover.ToolCall) string {
	names := []string{"command", "filePath", "pattern", "url", "description", "query", "path", "name"}
	if call.Name == "task" { // its command only says where the task came from
		names = []string{"description"}
	}
	o := jsonl.Object(call.Input)
	for _, name := range names {
		if text := o.Get(name).Text(errorLimit); text != "" {
			return text
		}
	}
	if patch := native.ParsePatch(o.Get(patchKey).Text(0)); len(patch.Files) > 0 {
		return discover.Truncate(strings.Join(patch.Files, ", "), errorLimit)
	}
	for question := range o.Get("questions").Elements() {
		return question.Object().Get("question").Text(errorLimit)
	}
	return ""
}
