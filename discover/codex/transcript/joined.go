package transcript

import (
	"bytes"

	"agentctl/discover/native/jsonl"
)

// JoinsStrings reports whether a message of these records joins several strings to one text: a content or a result of several
// parts. The block consists of whole lines.
func JoinsStrings(block []byte) bool {
	for {
		i := bytes.Index(block, []byte(`,{`)) // an object after another element
		if i < 0 {
			return false
		}
		begin := bytes.LastIndexByte(block[:i], '\n') + 1
		line, rest, _ := bytes.Cut(block[i:], []byte("\n"))
		if joins(block[begin : i+len(line)]) {
			return true
		}
		block = rest
	}
}

// joins reports whether the text of a record consists of several parts.
func joins(line []byte) bool {
	r, ok := Decode(line, "")
	if !ok {
		return false
	}
	parts := r.body.Get("content")
	if r.Kind == ToolResult {
		parts = r.Get("output")
	} else if r.Kind != UserText && r.Kind != AgentText {
		return false
	}
	return isList(parts) && jsonl.Object(line).Complete()
}

// isList reports whether a value is a list of at least two elements.
func isList(v jsonl.Value) bool {
	n := 0
	for range v.Elements() {
		if n++; n > 1 {
			return true
		}
	}
	return false
}
