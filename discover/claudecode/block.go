package claudecode

import (
	"strings"

	"agentctl/discover/native"
)

// block is one part of a message's content.
type block struct {
	Type      string // text, tool_use, tool_result, thinking, image, …
	ID        string // of a tool_use
	Name      string // of its tool
	ToolUseID string // of a tool_result
	IsError   bool   // of a tool_result
	text      native.Value
	input     native.Value // of a tool_use
	content   native.Value // of a tool_result: a string or a list of blocks
}

// fewBlocks is room for the blocks of most messages.
type fewBlocks [4]block

// blocks returns the content, whose short form is a string.
func (m message) blocks() []block { return blocksOf(m.content) }

// blocksIn is blocks that takes no memory if there are few.
func (m message) blocksIn(room *fewBlocks) []block { return appendBlocks(room[:0], m.content) }

func blocksOf(content native.Value) []block { return appendBlocks(nil, content) }

func appendBlocks(list []block, content native.Value) []block {
	if len(content) > 0 && content[0] == '"' {
		return append(list, block{Type: "text", text: content})
	}
	for v := range content.Elements() {
		list = append(list, parseBlock(v.Object()))
	}
	return list
}

// beginsWithResult reports whether the first block is a tool's result, as those of most user records are: they are most of a
// transcript, and not gone over for it.
func beginsWithResult(content native.Value) bool {
	if len(content) == 0 || content[0] != '[' {
		return false
	}
	for key, v := range content[1:].Object().Members() {
		if string(key) == "type" {
			return v.Word("tool_result") == "tool_result"
		}
	}
	return false
}

func parseBlock(o native.Object) (b block) {
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
			b.text = v
		case "input":
			b.input = v
		case "content":
			b.content = v
		}
	}
	return b
}

// text joins the text blocks, of each at most limit characters (0: all).
func text(blocks []block, limit int) string {
	var parts []string
	for _, b := range blocks {
		if b.Type == "text" {
			parts = append(parts, b.text.Text(limit))
		}
	}
	return strings.TrimSpace(strings.Join(parts, "\n"))
}
