package claudecode

import (
	"bytes"
	"encoding/json"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native"
)

// results holds what calls returned until the calls come: read from its end, a transcript has the result first. The
// oldest are forgotten, so that results that no call ever asks for take bounded memory.
type results struct {
	held, before map[string]outcome // by call
	size         int                // of the outputs held, in bytes
}

type outcome struct {
	output string
	state  discover.ToolState
}

// How many calls' results are held at once, or how many bytes of them, before the oldest are forgotten.
const (
	maxResults = 2048
	maxOutputs = native.MaxLine
)

// add takes a block that is a call's result.
func (r *results) add(b block) {
	if strings.HasSuffix(b.Type, "tool_result") {
		output := outputOf(b.content)
		r.put(b.ToolUseID, outcome{output, endOf(b.IsError, output)})
	}
}

// put takes a result; of several of one call, the newest counts.
func (r *results) put(call string, o outcome) {
	if _, ok := r.of(call); ok {
		return
	}
	if r.held == nil || len(r.held) >= maxResults || r.size >= maxOutputs {
		r.before, r.held, r.size = r.held, map[string]outcome{}, 0
	}
	r.held[call] = o
	r.size += len(o.output)
}

// of is the result of a call.
func (r *results) of(call string) (o outcome, ok bool) {
	if o, ok = r.held[call]; !ok {
		o, ok = r.before[call]
	}
	return o, ok
}

// call is the call that a block makes, with its result where there is one.
func (r *results) call(b block) *discover.ToolCall {
	input := b.input.Raw()
	c := &discover.ToolCall{ID: b.ID, Name: b.Name, Input: jsonOf(input), Brief: briefOf(input), State: discover.ToolOpen}
	if o, ok := r.of(b.ID); ok {
		c.Output, c.State = o.output, o.state
	}
	return c
}

// endOf says how a call ended. That the person said no, or cut it short, is told by Claude Code's own words to the model.
func endOf(isError bool, output string) discover.ToolState {
	switch {
	case !isError:
		return discover.ToolDone
	case strings.HasSuffix(output, interrupted+" for tool use]"): // 2.1.112
		return discover.ToolCut
	case strings.HasPrefix(output, "The user doesn't want to "):
		return discover.ToolRefused
	}
	return discover.ToolFailed
}

// outputOf is the text of a result, which may be a list of texts and images.
func outputOf(content native.Value) string { return textOf(content, 0) }

// jsonOf is a JSON value as it stands, or the JSON string of what is none.
func jsonOf(raw []byte) json.RawMessage {
	if text := bytes.ToValidUTF8(raw, []byte("\uFFFD")); json.Valid(text) {
		return bytes.Clone(text)
	}
	text, _ := json.Marshal(string(raw)) // a string always can be
	return text
}
