package pi

import (
	"bytes"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// toolResults holds the results of tool calls until the calls are read: from the end of a file, the result comes first. All are dropped
// when they are too many, so that results without a call take bounded memory.
type toolResults struct {
	byCall map[string]toolResult
	size   int // of the outputs, in bytes
}

type toolResult struct {
	output string
	failed bool
}

// The number of results, and of bytes of their outputs, after which they are dropped.
const (
	maxResults     = 4096
	maxOutputBytes = storage.MaxLine
)

// add takes a message with a result. A call with the ID of a newer one has a result of its own, which is read after the newer call.
func (r *toolResults) add(e *entry) {
	if r.byCall == nil || len(r.byCall) >= maxResults || r.size >= maxOutputBytes {
		*r = toolResults{byCall: map[string]toolResult{}}
	}
	o := toolResult{textOf(e.message.Get("content")), string(e.message.Get("isError").Raw()) == "true"}
	r.byCall[e.message.Get("toolCallId").Text(idLimit)] = o
	r.size += len(o.output)
}

// call returns the call of a block, with its result if there is one.
func (r *toolResults) call(block storage.Object) *discover.ToolCall {
	input := block.Get("arguments").Raw()
	c := &discover.ToolCall{
		ID: block.Get("id").Text(idLimit), Name: block.Get("name").Text(nameLimit), Input: bytes.Clone(input), Brief: brief(input),
		State: discover.ToolOpen,
	}
	o, ok := r.byCall[c.ID]
	if !ok {
		return c
	}
	delete(r.byCall, c.ID)
	r.size -= len(o.output)
	c.Output, c.State = o.output, discover.ToolDone
	switch {
	case o.failed && o.output == abortedOutput:
		c.State = discover.ToolInterrupted
	case o.failed:
		c.State = discover.ToolFailed
	}
	return c
}

// abortedOutput is the result of a command that was ended with its turn (SEEN 1.5.2).
const abortedOutput = "Command aborted"

// brief returns the member of a call's input that says most to people.
func brief(input storage.Object) string {
	for _, key := range [...]string{"command", "path", "pattern", "query", "url", "question", "description"} {
		if text := input.Get(key).Text(0); text != "" {
			return text
		}
	}
	return ""
}
