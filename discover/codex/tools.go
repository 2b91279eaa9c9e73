package codex

import (
	"encoding/json"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native"
)

// callOf reads a call of a tool. A web search is done where the model is and leaves no result here.
func callOf(r *record) (discover.ToolCall, bool) {
	c := discover.ToolCall{ID: r.get("call_id").Text(0), Name: r.get("name").Text(0), State: discover.ToolOpen}
	switch string(r.name()) {
	case "function_call":
		c.Input = r.get("arguments").Raw()
		if text := r.get("arguments").Text(0); json.Valid([]byte(text)) {
			c.Input = []byte(text)
		}
		c.Brief = briefOf(native.Object(c.Input))
	case "custom_tool_call":
		c.Input = r.get("input").Raw()
		c.Brief = headline(r.get("input").Text(0))
	case "local_shell_call":
		c.Name, c.Input = "local_shell", r.get("action").Raw()
		c.Brief = briefOf(native.Object(c.Input))
	case "web_search_call":
		c.ID, c.Name, c.Input = r.get("id").Text(0), "web_search", r.get("action").Raw()
		c.Brief = briefOf(native.Object(c.Input))
		if r.get("status").Text(0) == "completed" {
			c.State = discover.ToolDone
		}
	default:
		return c, false
	}
	c.Input = append(json.RawMessage(nil), c.Input...) // the line's bytes are not ours
	if !json.Valid(c.Input) {
		c.Input = nil
	}
	return c, true
}

// briefOf finds what tells people what a call does among the arguments that the agent's own tools have.
func briefOf(arguments native.Object) string {
	for _, name := range [...]string{"cmd", "command", "query", "url", "path", "message", "explanation", "question"} {
		v := arguments.Get(name)
		if text := v.Text(0); text != "" {
			return text
		}
		if words := wordsOf(v); len(words) > 0 {
			return commandOf(words)
		}
	}
	for question := range arguments.Get("questions").Elements() {
		return question.Object().Get("question").Text(0)
	}
	return ""
}

func wordsOf(v native.Value) (words []string) {
	for word := range v.Elements() {
		words = append(words, word.Text(0))
	}
	return words
}

// commandOf is a command line without the shell that is called for it.
func commandOf(words []string) string {
	if len(words) == 3 && (words[1] == "-lc" || words[1] == "-c") {
		return words[2]
	}
	return strings.Join(words, " ")
}

// headline is the first line of an input that is no JSON; of a patch, the files that it changes.
func headline(text string) string {
	if files := patched(text); len(files) > 0 && strings.HasPrefix(strings.TrimSpace(text), patchBegins) {
		return strings.Join(files, ", ")
	}
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return first
}

// patchBegins is the first line of a patch, which may stand in a command.
const patchBegins = "*** Begin Patch"

// patched are the files that a patch changes.
func patched(text string) (files []string) {
	_, patch, _ := strings.Cut(text, patchBegins)
	for line := range strings.Lines(patch) {
		for _, mark := range [...]string{"*** Add File: ", "*** Update File: ", "*** Delete File: "} {
			if file, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), mark); ok {
				files = append(files, file)
			}
		}
	}
	return files
}
