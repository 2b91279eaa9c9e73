package opencode

import (
	"bytes"
	"cmp"
	"encoding/json"

	"agentctl/discover"
	"agentctl/discover/native/jsonl"
)

// tool is a call of a tool, with what became of it: both are one part.
func (d *builder) tool(id string, o jsonl.Object) item {
	call := discover.ToolCall{ID: o.Get("callID").Text(shortLimit), Name: o.Get("tool").Text(shortLimit)}
	state := o.Get("state").Object()
	fillCall(&call, state)
	call.Summary = cmp.Or(brief(call), state.Get("title").Text(textLimit))
	s := d.newItem(id, discover.KindTool, state.Get("time").Object().Get("start").Int(), "")
	s.Tool = &call
	return s
}

// fillCall takes in the state of a call: {"status","input","output","error","title","metadata","time"}. What bash has
// printed so far is in its metadata.
func fillCall(call *discover.ToolCall, o jsonl.Object) {
	call.Input = rawJSON(o.Get("input"))
	switch o.Get("status").Text(shortLimit) {
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

// rawJSON is a copy of a value as it stands, in a string where it is no JSON.
func rawJSON(v jsonl.Value) json.RawMessage {
	raw := bytes.Clone(v.Raw())
	if len(raw) == 0 || json.Valid(raw) {
		return raw
	}
	quoted, _ := json.Marshal(string(raw)) // no string fails
	return quoted
}

// brief is the part of a call's input that tells what it does: of the tools' own words for their arguments, the first.
func brief(call discover.ToolCall) string {
	words := []string{"command", "filePath", "pattern", "url", "description", "query", "path", "name"}
	if call.Name == "task" { // a command is only where it came from
		words = []string{"description"}
	}
	o := jsonl.Object(call.Input)
	for _, name := range words {
		if text := o.Get(name).Text(textLimit); text != "" {
			return text
		}
	}
	for question := range o.Get("questions").Elements() {
		return question.Object().Get("question").Text(textLimit)
	}
	return ""
}
