package pi

import (
	"bytes"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// addResult takes a message with the result of a call.
func addResult(to *discover.ToolResults, e *entry) {
	output, state := textOf(e.message.Get("content")), discover.ToolDone
	switch failed := e.message.Get("isError").IsTrue(); {
	case failed && output == abortedOutput:
		state = discover.ToolInterrupted
	case failed:
		state = discover.ToolFailed
	}
	to.Add(e.message.Get("toolCallId").Text(idLimit), output, state)
}

// abortedOutput is the result of a command that was ended with its turn (SEEN 1.5.2).
const abortedOutput = "Command aborted"

// newCall returns the call of a block, without its result.
func newCall(block storage.Object) *discover.ToolCall {
	input := block.Get("arguments").Raw()
	return &discover.ToolCall{
		ID: block.Get("id").Text(idLimit), Name: block.Get("name").Text(nameLimit), Input: bytes.Clone(input),
		Brief: storage.Object(input).FirstText("command", "path", "pattern", "query", "url", "question", "description"),
	}
}
