package opencode

import (
	"bytes"
	"cmp"
	"encoding/json"

	"agentctl/discover"
	"agentctl/discover/native"
)

// tool is a call of a tool, with what became of it: both are one part.
func (d *dialogue) tool(id string, o native.Object) said {
	call := discover.ToolCall{State: discover.ToolOpen}
	var title string
	var at int64
	for key, v := range o.Members() {
		switch string(key) {
		case "callID":
			call.ID = v.Text(shortLimit)
		case "tool":
			call.Name = v.Text(shortLimit)
		case "state":
			title, at = fillCall(&call, v.Object())
		}
	}
	call.Brief = cmp.Or(briefOf(call), title)
	s := d.say(id, discover.KindTool, at, "")
	s.Tool = &call
	return s
}

// fillCall takes in the state of a call: {"status","input","output","error","title","metadata","time"}. What bash has
// printed so far is in its metadata.
func fillCall(call *discover.ToolCall, o native.Object) (title string, began int64) {
	var status, output, failure, soFar string
	for key, v := range o.Members() {
		switch string(key) {
		case "status":
			status = v.Text(shortLimit)
		case "input":
			call.Input = rawJSON(v)
		case "output":
			output = v.Text(0)
		case "error":
			failure = v.Text(0)
		case "title":
			title = v.Text(textLimit)
		case "metadata":
			soFar = v.Object().Get("output").Text(0)
		case "time":
			began = v.Object().Get("start").Int()
		}
	}
	switch status {
	case "completed":
		call.State, call.Output = discover.ToolDone, output
	case "error":
		call.State, call.Output = discover.ToolFailed, failure
		if refusal(failure) {
			call.State = discover.ToolRefused
		}
	default:
		call.Output = soFar
	}
	return title, began
}

// rawJSON is a copy of a value as it stands, in a string where it is no JSON.
func rawJSON(v native.Value) json.RawMessage {
	raw := bytes.Clone(v.Raw())
	if len(raw) == 0 || json.Valid(raw) {
		return raw
	}
	quoted, _ := json.Marshal(string(raw)) // no string fails
	return quoted
}

// briefOf is the part of a call's input that tells what it does: of the tools' own words for their arguments, the first.
func briefOf(call discover.ToolCall) string {
	words := []string{"command", "filePath", "pattern", "url", "description", "query", "path", "name"}
	if call.Name == "task" { // a command is only where it came from
		words = []string{"description"}
	}
	o := native.Object(call.Input)
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
