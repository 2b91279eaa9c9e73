package claudecode

import (
	"bytes"
	"cmp"
	"iter"
	"strings"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// block is one block of a message's content.
type block struct {
	Type      string // text, tool_use, tool_result, thinking, image, …
	ID        string // of a tool_use
	Name      string // of its tool
	ToolUseID string // of a tool_result
	IsError   bool   // of a tool_result
	Text      storage.Value
	Input     storage.Value // of a tool_use
	Content   storage.Value // of a tool_result: a string or a list of blocks
}

// blocks yields the blocks of a content with their indexes. A content that is a string is one block of text.
func blocks(content storage.Value) iter.Seq2[int, block] {
	return func(yield func(int, block) bool) {
		if len(content) > 0 && content[0] == '"' {
			yield(0, block{Type: "text", Text: content})
			return
		}
		i := 0
		for v := range content.Elements() {
			if !yield(i, parseBlock(v.Object())) {
				return
			}
			i++
		}
	}
}

func parseBlock(o storage.Object) (b block) {
	for key, v := range o.Members() {
		switch string(key) {
		case "type":
			b.Type = v.Word("text", "tool_use", "tool_result", "thinking")
		case "id":
			b.ID = v.Text(0)
		case "name":
			b.Name = v.Text(0)
		case "tool_use_id":
			b.ToolUseID = v.Text(0)
		case "is_error":
			b.IsError = isTrue(v)
		case "text":
			b.Text = v
		case "input":
			b.Input = v
		case "content":
			b.Content = v
		}
	}
	return b
}

// hasBlock reports whether a content has a block of this type.
func hasBlock(content storage.Value, kind string) bool {
	for _, b := range blocks(content) {
		if b.Type == kind {
			return true
		}
	}
	return false
}

// textOf joins the texts of a content, each cut to limit characters (0: no limit).
func textOf(content storage.Value, limit int) string {
	var parts []string
	for _, b := range blocks(content) {
		if b.Type == "text" {
			parts = append(parts, b.Text.Text(limit))
		}
	}
	return strings.Join(parts, "\n")
}

// toolResults holds the results of tool calls until the calls are read: from the end of a transcript, the result comes first. All are
// dropped when they are too many, so that results without a call take bounded memory.
type toolResults struct {
	byCall map[string][]toolResult // the newest first
	taken  map[string]bool         // the calls of the answer that is read now
	size   int                     // of the outputs held, in bytes
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

// isCall reports whether a block is a call: of a tool, or of something that the model's server runs, whatever its kind is called.
func (b block) isCall() bool {
	return strings.HasSuffix(b.Type, "tool_use") || b.ID != "" && b.Input != nil
}

// resultOf returns a block that is a tool's result as such, whatever its kind is called.
func resultOf(b block) (o toolResult, ok bool) {
	if b.ToolUseID == "" {
		return o, false
	}
	output := resultText(b.Content)
	failed := b.IsError || strings.HasSuffix(b.Content.Object().Get("type").Text(0), "_error")
	return toolResult{output, toolState(failed, output)}, true
}

// resultText returns the texts of a result: a string, or all strings of its parts but for those that only programs read.
func resultText(v storage.Value) string {
	var parts []string
	add := func(text string) {
		if text != "" {
			parts = append(parts, text)
		}
	}
	for e := range v.Elements() {
		add(resultText(e))
	}
	for key, member := range v.Object().Members() {
		switch string(key) {
		case "type", "id", "source", "data", "cache_control", "encrypted_content", "encrypted_index", "encrypted_stdout", "signature", "file_id":
		default:
			add(resultText(member))
		}
	}
	return cmp.Or(strings.Join(parts, "\n"), v.Text(0))
}

// store stores a result. Of several results of one ID, the newest comes first.
func (r *toolResults) store(call string, o toolResult) {
	if r.byCall == nil || max(len(r.byCall), len(r.byCall[call])) >= maxResults || r.size >= maxOutputBytes {
		r.byCall, r.taken, r.size = map[string][]toolResult{}, map[string]bool{}, 0
	}
	r.byCall[call] = append(r.byCall[call], o)
	r.size += len(o.output)
}

// take returns the result of a call, which is no other call's: some models give several calls of an answer one ID, or number the calls of
// each answer anew.
func (r *toolResults) take(call string) (o toolResult, ok bool) {
	list := r.byCall[call]
	if len(list) == 0 {
		return o, false
	}
	r.byCall[call], r.taken[call] = list[1:], true
	r.size -= len(list[0].output)
	return list[0], true
}

// endAnswer drops the results that no call of an answer has taken: they are not those of older calls with the same ID.
func (r *toolResults) endAnswer() {
	for call := range r.taken {
		for _, o := range r.byCall[call] {
			r.size -= len(o.output)
		}
		delete(r.byCall, call)
	}
	clear(r.taken)
}

// call returns the call that a block makes, with its result if there is one.
func (r *toolResults) call(b block) *discover.ToolCall {
	input := b.Input.Raw()
	c := &discover.ToolCall{ID: b.ID, Name: b.Name, Input: bytes.Clone(input), Brief: callBrief(input), State: discover.ToolOpen}
	if o, ok := r.take(b.ID); ok {
		c.Output, c.State = o.output, o.state
	}
	return c
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

// callBrief returns the member of a call's input that says most to people: the first one of keys that is not empty.
func callBrief(input storage.Object) string {
	keys := [...]string{
		"command", "file_path", "notebook_path", "pattern", "path", "query", "url", "questions", "description", "subject",
		"skill", "to", "task_id", "bash_id", "shell_id",
	}
	for _, key := range keys {
		if text := summaryText(input.Get(key)); text != "" {
			return text
		}
	}
	return ""
}

// summaryText returns a string, or the first of a list of questions.
func summaryText(v storage.Value) string {
	for question := range v.Elements() {
		return question.Object().Get("question").Text(0)
	}
	return v.Text(0)
}
