package codex

import (
	"encoding/json"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native"
	"agentctl/discover/native/jsonl"
)

// parseToolCall parses a tool call. A web search runs on the model's server and leaves no result here.
func parseToolCall(r *rolloutRecord) (discover.ToolCall, bool) {
	c := discover.ToolCall{ID: r.Get("call_id").Text(0), Name: r.Get("name").Text(0), State: discover.ToolOpen}
	switch string(r.typeName()) {
	case "function_call":
		c.Input = r.Get("arguments").Raw()
		if text := r.Get("arguments").Text(0); json.Valid([]byte(text)) {
			c.Input = []byte(text)
		}
		c.Brief = argumentBrief(jsonl.Object(c.Input))
	case "custom_tool_call":
		c.Input = r.Get("input").Raw()
		c.Brief = inputBrief(r.Get("input").Text(0))
	case "local_shell_call":
		c.Name, c.Input = "local_shell", r.Get("action").Raw()
		c.Brief = argumentBrief(jsonl.Object(c.Input))
	case "web_search_call":
		c.ID, c.Name, c.Input = r.Get("id").Text(0), "web_search", r.Get("action").Raw()
		c.Brief = argumentBrief(jsonl.Object(c.Input))
		if r.Get("status").Text(0) == "completed" {
			c.State = discover.ToolDone
		}
	default:
		return c, false
	}
	c.Input = append(json.RawMessage(nil), c.Input...) // the line's buffer is used again
	if !json.Valid(c.Input) {
		c.Input = nil
	}
	return c, true
}

// argumentBrief is the argument that describes a call best, by the names of the agent's own tools.
func argumentBrief(arguments jsonl.Object) string {
	for _, name := range [...]string{"cmd", "command", "query", "url", "path", "message", "explanation", "question"} {
		v := arguments.Get(name)
		if text := v.Text(0); text != "" {
			return text
		}
		if words := texts(v); len(words) > 0 {
			return commandLine(words)
		}
	}
	for question := range arguments.Get("questions").Elements() {
		return question.Object().Get("question").Text(0)
	}
	return ""
}

func texts(v jsonl.Value) (words []string) {
	for word := range v.Elements() {
		words = append(words, word.Text(0))
	}
	return words
}

// commandLine is a command line without the shell that runs it.
func commandLine(words []string) string {
	if len(words) == 3 && (words[1] == "-lc" || words[1] == "-c") {
		return words[2]
	}
	return strings.Join(words, " ")
}

// inputBrief is the first line of an input that is not JSON or, of a patch, the files that it changes.
func inputBrief(text string) string {
	if p := native.ParsePatch(text); len(p.Files) > 0 && strings.HasPrefix(strings.TrimSpace(text), native.PatchHeader) {
		return strings.Join(p.Files, ", ")
	}
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return first
}
