package transcript

import (
	"bytes"
	"encoding/json"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
	"agentctl/discover/native/jsonl"
)

// toolResults holds the results of tool calls until the calls are read: from the end of a transcript, the result comes
// first. The oldest are dropped, so that results without a call take bounded memory.
type toolResults struct {
	current, previous map[string]toolResult // by call
	size              int                   // of the outputs held, in bytes
}

type toolResult struct {
	output string
	state  discover.ToolState
}

// The number of results, and of bytes of their outputs, after which older ones are dropped.
const (
	maxResults     = 2048
	maxOutputBytes = fsread.MaxLine
)

// add stores a block that is a tool's result.
func (r *toolResults) add(b Block) {
	if strings.HasSuffix(b.Type, "tool_result") {
		output := outputOf(b.Content)
		r.store(b.ToolUseID, toolResult{output, toolState(b.IsError, output)})
	}
}

// store stores a result. Of several results of one call, the newest, which comes first, counts.
func (r *toolResults) store(call string, o toolResult) {
	if _, ok := r.find(call); ok {
		return
	}
	if r.current == nil || len(r.current) >= maxResults || r.size >= maxOutputBytes {
		r.previous, r.current, r.size = r.current, map[string]toolResult{}, 0
	}
	r.current[call] = o
	r.size += len(o.output)
}

// find returns the result of a call.
func (r *toolResults) find(call string) (o toolResult, ok bool) {
	if o, ok = r.current[call]; !ok {
		o, ok = r.previous[call]
	}
	return o, ok
}

// call returns the call that a block makes, with its result if there is one.
func (r *toolResults) call(b Block) *discover.ToolCall {
	input := b.Input.Raw()
	c := &discover.ToolCall{ID: b.ID, Name: b.Name, Input: validJSON(input), Brief: callBrief(input), State: discover.ToolOpen}
	r.complete(c)
	return c
}

// complete adds the result of a call, if there is one by now.
func (r *toolResults) complete(c *discover.ToolCall) {
	if o, ok := r.find(c.ID); ok && c.State == discover.ToolOpen {
		c.Output, c.State = o.output, o.state
	}
}

// toolState returns how a call ended. That the user refused or interrupted it is known only from the text that Claude Code
// writes for the model.
func toolState(isError bool, output string) discover.ToolState {
	switch {
	case !isError:
		return discover.ToolDone
	case strings.HasSuffix(output, interruptedPrefix+" for tool use]"): // 2.1.112
		return discover.ToolInterrupted
	case strings.HasPrefix(output, "The user doesn't want to "):
		return discover.ToolRefused
	}
	return discover.ToolFailed
}

// outputOf returns the text of a result, which may be a list of texts and images.
func outputOf(content jsonl.Value) string { return textOf(content, 0) }

// validJSON returns a JSON value as it is stored, or the JSON string of what is not valid JSON.
func validJSON(raw []byte) json.RawMessage {
	if text := bytes.ToValidUTF8(raw, []byte("\uFFFD")); json.Valid(text) {
		return bytes.Clone(text)
	}
	text, _ := json.Marshal(string(raw)) // a string never fails
	return text
}

// callBrief returns the member of a call's input that says most to people: the first one of keys that is not empty.
func callBrief(input jsonl.Object) string {
	keys := [...]string{
		"command", "file_path", "notebook_path", "pattern", "path", "query", "url", "questions", "description", "subject",
		"skill", "to", "task_id", "bash_id", "shell_id",
	}
	best, brief := len(keys), ""
	for key, v := range input.Members() {
		for i, k := range keys[:best] {
			if string(key) != k {
				continue
			}
			if text := summaryText(v); text != "" {
				best, brief = i, text
			}
			break
		}
	}
	return brief
}

// summaryText returns a string, or the first of a list of questions.
func summaryText(v jsonl.Value) string {
	for question := range v.Elements() {
		return question.Object().Get("question").Text(0)
	}
	return v.Text(0)
}
