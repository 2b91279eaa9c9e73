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
			b.IsError = v.IsTrue()
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

// isCall reports whether a block is a call: of a tool, or of something that the model's server runs, whatever its kind is called.
func (b block) isCall() bool {
	return strings.HasSuffix(b.Type, "tool_use") || b.ID != "" && b.Input != nil
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

func newCall(b block) *discover.ToolCall {
	return &discover.ToolCall{ID: b.ID, Name: b.Name, Input: bytes.Clone(b.Input.Raw()), Brief: callBrief(b.Input.Object())}
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

// callBrief returns the member of a call's input that says most to people.
func callBrief(input storage.Object) string {
	return input.FirstText(
		"command", "file_path", "notebook_path", "pattern", "path", "query", "url", "questions", "description", "subject",
		"skill", "to", "task_id", "bash_id", "shell_id",
	)
}
