package transcript

import (
	"iter"
	"strings"

	"agentctl/discover/native/jsonl"
)

// Block is one block of a message's content.
type Block struct {
	Type      string // text, tool_use, tool_result, thinking, image, …
	ID        string // of a tool_use
	Name      string // of its tool
	ToolUseID string // of a tool_result
	IsError   bool   // of a tool_result
	Text      jsonl.Value
	Input     jsonl.Value // of a tool_use
	Content   jsonl.Value // of a tool_result: a string or a list of blocks
}

// blocks yields the blocks of a content with their indexes. A content that is a string is one block of text.
func blocks(content jsonl.Value) iter.Seq2[int, Block] {
	return func(yield func(int, Block) bool) {
		if len(content) > 0 && content[0] == '"' {
			yield(0, Block{Type: "text", Text: content})
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

func parseBlock(o jsonl.Object) (b Block) {
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
func hasBlock(content jsonl.Value, kind string) bool {
	for _, b := range blocks(content) {
		if b.Type == kind {
			return true
		}
	}
	return false
}

// textOf joins the texts of a content, each cut to limit characters (0: no limit).
func textOf(content jsonl.Value, limit int) string {
	var parts []string
	for _, b := range blocks(content) {
		if b.Type == "text" {
			parts = append(parts, b.Text.Text(limit))
		}
	}
	return strings.Join(parts, "\n")
}
