package transcript

import (
	"bytes"
	"encoding/json"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
	"agentctl/discover/native/jsonl"
)

// toolResults holds what calls returned until the calls come: read from its end, a transcript has the result first. The
// oldest are forgotten, so that results that no call ever asks for take bounded memory.
type toolResults struct {
	current, previous map[string]toolResult // by call
	size              int                   // of the outputs held, in bytes
}

type toolResult struct {
	output string
	state  discover.ToolState
}

// How many calls' results are held at once, or how many bytes of them, before the oldest are forgotten.
const (
	maxResults     = 2048
	maxOutputBytes = fsread.MaxLine
)

// add takes a block that is a call's result.
func (r *toolResults) add(b Block) {
	if strings.HasSuffix(b.Type, "tool_result") {
		output := outputOf(b.Content)
		r.store(b.ToolUseID, toolResult{output, toolState(b.IsError, output)})
	}
}

// store takes a result; of several of one call, the newest counts.
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

// find is the result of a call.
func (r *toolResults) find(call string) (o toolResult, ok bool) {
	if o, ok = r.current[call]; !ok {
		o, ok = r.previous[call]
	}
	return o, ok
}

// call is the call that a block makes, with its result where there is one.
func (r *toolResults) call(b Block) *discover.ToolCall {
	input := b.Input.Raw()
	c := &discover.ToolCall{ID: b.ID, Name: b.Name, Input: validJSON(input), Summary: callSummary(input), State: discover.ToolOpen}
	if o, ok := r.find(b.ID); ok {
		c.Output, c.State = o.output, o.state
	}
	return c
}

// toolState says how a call ended. That the person said no, or cut it short, is told by Claude Code's own words to the model.
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

// outputOf is the text of a result, which may be a list of texts and images.
func outputOf(content jsonl.Value) string { return textOf(content, 0) }

// validJSON is a JSON value as it stands, or the JSON string of what is none.
func validJSON(raw []byte) json.RawMessage {
	if text := bytes.ToValidUTF8(raw, []byte("\uFFFD")); json.Valid(text) {
		return bytes.Clone(text)
	}
	text, _ := json.Marshal(string(raw)) // a string always can be
	return text
}

// callSummary is the part of a call's input that tells people what it does: of the members that do, the first one in this
// order.
func callSummary(input jsonl.Object) string {
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

// summaryText is a text, or the first of a list of questions.
func summaryText(v jsonl.Value) string {
	for question := range v.Elements() {
		return question.Object().Get("question").Text(0)
	}
	return v.Text(0)
}
