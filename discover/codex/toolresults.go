package codex

import (
	"strconv"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native/jsonl"
)

// toolResults keeps results of tool calls until their calls come: records are read newest first.
type toolResults struct {
	pending map[string]*pendingToolResult
	bytes   int
}

// pendingToolResult is what is known about the end of a call.
type pendingToolResult struct {
	stored bool // a result has come
	text   string
	state  discover.ToolState // by another record than the result, "" if there is none
}

// The most results that are kept, and their bytes. A damaged file may have no calls for them. Beyond that, all are dropped.
const (
	maxPendingResults = 10_000
	maxPendingBytes   = 64 << 20
)

func (r *toolResults) pendingResult(id string) *pendingToolResult {
	if len(r.pending) >= maxPendingResults || r.bytes > maxPendingBytes {
		*r = toolResults{}
	}
	if r.pending == nil {
		r.pending = map[string]*pendingToolResult{}
	}
	if r.pending[id] == nil {
		r.pending[id] = &pendingToolResult{}
	}
	return r.pending[id]
}

// add adds the result of a call.
func (r *toolResults) add(e *rolloutRecord) {
	if id := e.Get("call_id").Text(0); id != "" {
		got := r.pendingResult(id)
		if !got.stored {
			got.stored, got.text = true, outputText(e.Get("output"))
			r.bytes += len(got.text)
		}
	}
}

// addState adds the state of a call that has ended, by another record than its result.
func (r *toolResults) addState(id string, o jsonl.Object) {
	if id == "" {
		return
	}
	var state discover.ToolState
	switch status, code := o.Get("status").Text(0), o.Get("exit_code").Raw(); {
	case status == "declined":
		state = discover.ToolRefused
	case status == "failed", len(code) > 0 && string(code) != "0" && string(code) != "null":
		state = discover.ToolFailed
	case status == "completed":
		state = discover.ToolDone
	default:
		return
	}
	if got := r.pendingResult(id); got.state == "" {
		got.state = state
	}
}

// apply sets the state and the output of a call.
func (r *toolResults) apply(c *discover.ToolCall) {
	got := r.pending[c.ID]
	if got == nil || c.ID == "" {
		return
	}
	delete(r.pending, c.ID)
	r.bytes -= len(got.text)
	c.Output = got.text
	state := discover.ToolDone
	if got.stored {
		state, c.Output = parseToolResult(c.Name, got.text)
	}
	if got.state != "" {
		state = got.state
	}
	c.State = state
}

// outputText is the text of a result, which is a string, an object or a list of parts.
func outputText(v jsonl.Value) string {
	if len(v) > 0 && v[0] == '[' {
		return joinedText(v)
	}
	if len(v) > 0 && v[0] == '{' {
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

// abortedByUser ends the result of a command that the user interrupted, or that was waiting for approval then.
const abortedByUser = "aborted by user"

func parseCommandResult(text string) (discover.ToolState, string) {
	if o := jsonl.Object(text); strings.HasPrefix(text, "{") && o.Complete() { // {"output":"…","metadata":{"exit_code":0,…}}
		code := o.Get("metadata").Object().Get("exit_code").Raw()
		output := o.Get("output").Text(0)
		if len(code) > 0 && string(code) != "0" {
			return discover.ToolFailed, output
		}
		if len(code) > 0 {
			return discover.ToolDone, output
		}
	}
	head, output, found := strings.Cut(text, "Output:\n")
	if !found {
		head, output = text, text
	}
	for line := range strings.Lines(head) {
		line = strings.TrimSuffix(line, "\n")
		code, ok := strings.CutPrefix(line, "Process exited with code ")
		if !ok {
			code, ok = strings.CutPrefix(line, "Exit code: ")
		}
		if !ok {
			continue
		}
		if n, err := strconv.Atoi(code); err == nil {
			switch {
			case n == 0:
				return discover.ToolDone, output
			case found: // the head before the output has the agent's own lines
				return discover.ToolFailed, line + "\n" + output
			}
			return discover.ToolFailed, text
		}
	}
	if strings.HasSuffix(text, abortedByUser) {
		if time, rest, ok := strings.Cut(text, "\n"); ok && strings.HasPrefix(time, "Wall time: ") {
			text = rest
		}
		return discover.ToolFailed, text
	}
	return discover.ToolDone, text
}
