package copilot

import (
	"bytes"
	"cmp"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// addResult takes the data of a tool.execution_complete.
func addResult(to *discover.ToolResults, data storage.Object) {
	failure := data.Get("error").Object()
	output, state := data.Get("result").Object().Get("content").Text(0), discover.ToolDone
	switch {
	case data.Get("success").IsTrue():
	case data.Get("model").Text(idLimit) == "resumed": // made up for a call that was cut off
		state = discover.ToolInterrupted
	case failure.Get("code").Text(idLimit) == "denied":
		state = discover.ToolRefused
	default:
		state = discover.ToolFailed
	}
	if state != discover.ToolDone {
		output = cmp.Or(failure.Get("message").Text(0), output)
	}
	to.Add(data.Get("toolCallId").Text(idLimit), output, state)
}

// newCall returns a call with its result, if there is one.
func newCall(results *discover.ToolResults, id, name, input storage.Value) *discover.ToolCall {
	c := &discover.ToolCall{ID: id.Text(idLimit), Name: name.Text(textLimit), Input: bytes.Clone(input.Raw()), Brief: callBrief(input.Object())}
	results.Complete(c)
	return c
}

// callBrief returns the member of a call's input that says most to people.
func callBrief(input storage.Object) string {
	return input.FirstText("command", "path", "message", "question", "summary", "pattern", "query", "url", "description", "intent", "shellId", "agent_id", "skill", "name")
}
