package codex

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// parseToolCall parses a tool call of any kind. Those that the model's server runs have no other result than what is in the call. The status
// of the others says only that the model has written them.
func parseToolCall(r *rolloutLine) discover.ToolCall {
	kind := r.typeName()
	c := discover.ToolCall{
		ID: cmp.Or(r.Get("call_id").Text(0), r.Get("id").Text(0)), State: discover.ToolOpen,
		Name: cmp.Or(r.Get("name").Text(0), strings.TrimSuffix(kind, "_call")), Input: callInput(r.payload),
	}
	c.Brief = argumentBrief(storage.Object(c.Input))
	switch kind {
	case "custom_tool_call":
		c.Brief = inputBrief(r.Get("input").Text(0))
	case "function_call", "local_shell_call":
	default:
		switch c.Output = outputText(r.payload.First("output", "results", "result")); {
		case r.Get("status").Text(0) == "failed":
			c.State = discover.ToolFailed
		case c.Output != "", r.Get("status").Text(0) == "completed":
			c.State = discover.ToolDone
		}
		if kind == "image_generation_call" && c.Output != "" {
			c.Output = "[image]" // the result is the image itself
		}
	}
	return c
}

// callInput is what a tool was called with: a JSON value, a text that contains one, or an object of the members that only this kind of call has.
func callInput(call storage.Object) (input json.RawMessage) {
	if v := call.First("arguments", "input", "action"); v != nil {
		input = slices.Clone(json.RawMessage(v.Raw())) // the line's buffer is used again
		if text := v.Text(0); json.Valid([]byte(text)) {
			input = []byte(text)
		}
	} else {
		for key, value := range call.Members() {
			const others = " type id call_id status name output result results internal_chat_message_metadata_passthrough "
			if raw := value.Raw(); string(raw) != "null" && !strings.Contains(others, " "+string(key)+" ") {
				input = slices.Concat(input, []byte(`,"`), key, []byte(`":`), raw)
			}
		}
		if len(input) > 0 {
			input[0] = '{'
			input = append(input, '}')
		}
	}
	return input
}

// argumentBrief is the argument that describes a call best, by the names of the agent's own tools.
func argumentBrief(arguments storage.Object) string {
	for _, name := range [...]string{"cmd", "command", "query", "queries", "url", "path", "message", "explanation", "question", "prompt", "revised_prompt"} {
		v := arguments.Get(name)
		if text := v.Text(0); text != "" {
			return text
		}
		if words := texts(v); len(words) > 0 {
			return commandLine(words)
		}
	}
	return arguments.FirstText("questions")
}

func texts(v storage.Value) (words []string) {
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
	if p := storage.ParsePatch(text); len(p.Files) > 0 && strings.HasPrefix(strings.TrimSpace(text), storage.PatchHeader) {
		return strings.Join(p.Files, ", ")
	}
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return first
}

// toolResults keeps the results of tool calls until their calls come: records are read newest first. Several calls may have one ID; each has
// the result that is nearest after it.
type toolResults struct {
	discover.ToolResults
	ends discover.ToolResults // how calls ended, by other records than the results
}

// add adds the result of a call. Without the member "output", the result is its other members.
func (t *toolResults) add(e *rolloutLine) {
	text := outputText(e.Get("output"))
	if e.Get("output") == nil {
		text = string(callInput(e.payload))
	}
	t.addText(e.Get("call_id").Text(0), text)
}

func (t *toolResults) addText(id, text string) {
	if id != "" {
		t.Add(id, text, discover.ToolDone)
	}
}

// addState adds the state of a call that has ended, by another record than its result.
func (t *toolResults) addState(id string, o storage.Object) {
	if id == "" {
		return
	}
	switch status, code := o.Get("status").Text(0), o.Get("exit_code").Raw(); {
	case status == "declined":
		t.ends.Add(id, "", discover.ToolRefused)
	case status == "failed", len(code) > 0 && string(code) != "0" && string(code) != "null":
		t.ends.Add(id, "", discover.ToolFailed)
	case status == "completed":
		t.ends.Add(id, "", discover.ToolDone)
	}
}

// apply sets the state and the output of a call.
func (t *toolResults) apply(c *discover.ToolCall) {
	result, end := discover.ToolCall{ID: c.ID}, discover.ToolCall{ID: c.ID}
	t.Complete(&result)
	t.ends.Complete(&end)
	for !t.Has(c.ID) && t.ends.Has(c.ID) { // an end that is recorded twice is no older call's
		t.ends.Complete(&discover.ToolCall{ID: c.ID})
	}
	if result.State != discover.ToolOpen {
		c.State, c.Output = parseToolResult(c.Name, result.Output)
	}
	if end.State != discover.ToolOpen {
		c.State = end.State
	}
}

// outputText is the text of a result, which is a string, an object or a list of parts.
func outputText(v storage.Value) string {
	switch {
	case bytes.HasPrefix(v, []byte("[")):
		return joinedText(v)
	case bytes.HasPrefix(v, []byte("{")):
		return string(v.Raw())
	}
	return v.Text(0)
}

// parseToolResult is how a call ended, by the texts of the agent's tools (SEEN 0.42, 0.104, 0.169), and the command's own output. The
// results of other tools are not parsed.
func parseToolResult(tool, text string) (discover.ToolState, string) {
	switch {
	case text == "exec command rejected by user", text == "patch rejected by user",
		strings.HasPrefix(text, "exec_command failed") && strings.Contains(text, "rejected by user"):
		return discover.ToolRefused, text
	}
	for _, failure := range [...]string{
		"unsupported call: ", "failed to parse function arguments", "exec_command failed", "patch rejected", "approval policy is Never",
	} {
		if strings.HasPrefix(text, failure) {
			return discover.ToolFailed, text
		}
	}
	switch tool {
	case "exec_command", "write_stdin", "shell", "shell_command", "local_shell", "container.exec", "apply_patch":
		return parseCommandResult(text)
	}
	return discover.ToolDone, text
}

func parseCommandResult(text string) (discover.ToolState, string) {
	if o := storage.Object(text); strings.HasPrefix(text, "{") && o.Complete() { // {"output":"…","metadata":{"exit_code":0,…}}
		if code := string(o.Get("metadata").Object().Get("exit_code").Raw()); code == "0" {
			return discover.ToolDone, o.Get("output").Text(0)
		} else if code != "" {
			return discover.ToolFailed, o.Get("output").Text(0)
		}
	}
	head, output, found := strings.Cut(text, "Output:\n")
	if !found {
		output = text
	}
	for line := range strings.Lines(head) {
		line = strings.TrimSuffix(line, "\n")
		code, ok := strings.CutPrefix(line, "Process exited with code ")
		if !ok {
			code, ok = strings.CutPrefix(line, "Exit code: ")
		}
		switch n, err := strconv.Atoi(code); {
		case !ok || err != nil:
		case n == 0:
			return discover.ToolDone, output
		case found: // the head before the output has the agent's own lines
			return discover.ToolFailed, line + "\n" + output
		default:
			return discover.ToolFailed, text
		}
	}
	if strings.HasSuffix(text, "aborted by user") { // while it ran, or waited for approval
		if time, rest, ok := strings.Cut(text, "\n"); ok && strings.HasPrefix(time, "Wall time: ") {
			text = rest
		}
		return discover.ToolFailed, text
	}
	return discover.ToolDone, text
}
