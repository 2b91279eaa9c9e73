package copilot

import (
	"bytes"
	"cmp"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// toolResults holds the results of tool calls until the calls are read: from the end, the result comes first. All are dropped when they
// are too many, so that results without a call take bounded memory.
type toolResults struct {
	byCall map[string]toolResult
	size   int // of the outputs, in bytes
}

type toolResult struct {
	output string
	state  discover.ToolState
}

// The number of results, and of bytes of their outputs, after which they are dropped.
const (
	maxResults     = 4096
	maxOutputBytes = storage.MaxLine
)

// add takes the data of a tool.execution_complete.
func (r *toolResults) add(data storage.Object) {
	failure := data.Get("error").Object()
	result := toolResult{output: data.Get("result").Object().Get("content").Text(0), state: discover.ToolDone}
	switch {
	case isTrue(data.Get("success")):
	case data.Get("model").Text(idLimit) == "resumed": // made up for a call that was cut off
		result.state = discover.ToolInterrupted
	case failure.Get("code").Text(idLimit) == "denied":
		result.state = discover.ToolRefused
	default:
		result.state = discover.ToolFailed
	}
	if result.state != discover.ToolDone {
		result.output = cmp.Or(failure.Get("message").Text(0), result.output)
	}
	if r.byCall == nil || len(r.byCall) >= maxResults || r.size >= maxOutputBytes {
		r.byCall, r.size = map[string]toolResult{}, 0
	}
	r.byCall[data.Get("toolCallId").Text(idLimit)] = result
	r.size += len(result.output)
}

// call returns a call with its result, if there is one. Some models number their calls anew in each answer: a result belongs to one call.
func (r *toolResults) call(id, name, input storage.Value) *discover.ToolCall {
	c := &discover.ToolCall{
		ID: id.Text(idLimit), Name: name.Text(textLimit), Input: bytes.Clone(input.Raw()), Brief: callBrief(input.Object()), State: discover.ToolOpen,
	}
	if result, ok := r.byCall[c.ID]; ok {
		c.Output, c.State = result.output, result.state
		r.size -= len(result.output)
		delete(r.byCall, c.ID)
	}
	return c
}

// callBrief returns the member of a call's input that says most to people: the first one of keys that is not empty.
func callBrief(input storage.Object) string {
	keys := [...]string{"command", "path", "message", "question", "summary", "pattern", "query", "url", "description", "intent", "shellId", "agent_id", "skill", "name"}
	for _, key := range keys {
		if text := input.Get(key).Text(0); text != "" {
			return text
		}
	}
	return ""
}
