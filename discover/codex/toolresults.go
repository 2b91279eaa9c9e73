package codex

import (
	"strconv"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native"
)

// results are those of calls that have not come yet: read backwards, a result comes before its call.
type results struct {
	held  map[string]*result
	bytes int
}

// result is what is known of how a call ended.
type result struct {
	given bool // a result is stored
	text  string
	state discover.ToolState // as another record says; "" if none does
}

// What is held for calls that may never come, as in a damaged file. Beyond it, all are forgotten.
const (
	heldResults = 10_000
	heldBytes   = 64 << 20
)

func (r *results) of(id string) *result {
	if len(r.held) >= heldResults || r.bytes > heldBytes {
		*r = results{}
	}
	if r.held == nil {
		r.held = map[string]*result{}
	}
	if r.held[id] == nil {
		r.held[id] = &result{}
	}
	return r.held[id]
}

// take keeps a call's result.
func (r *results) take(e *record) {
	if id := e.get("call_id").Text(0); id != "" {
		got := r.of(id)
		if !got.given {
			got.given, got.text = true, outputText(e.get("output"))
			r.bytes += len(got.text)
		}
	}
}

// outcome keeps what another record than the result says of how a call ended.
func (r *results) outcome(id string, o native.Object) {
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
	if got := r.of(id); got.state == "" {
		got.state = state
	}
}

// settle gives a call its result.
func (r *results) settle(c *discover.ToolCall) {
	got := r.held[c.ID]
	if got == nil || c.ID == "" {
		return
	}
	delete(r.held, c.ID)
	r.bytes -= len(got.text)
	c.Output = got.text
	state := discover.ToolDone
	if got.given {
		state, c.Output = judge(c.Name, got.text)
	}
	if got.state != "" {
		state = got.state
	}
	c.State = state
}

// outputText is a result as text: it is one, or a list of parts of which some are.
func outputText(v native.Value) string {
	if len(v) > 0 && v[0] == '[' {
		return joined(v)
	}
	if len(v) > 0 && v[0] == '{' {
		return string(v.Raw())
	}
	return v.Text(0)
}

// judge tells from a result how its call ended, as the agent's own tools word it (SEEN 0.42, 0.104, 0.169), and what the
// command itself has printed. Other tools' results are not looked into.
func judge(tool, text string) (discover.ToolState, string) {
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
		return judgeCommand(text)
	}
	return discover.ToolDone, text
}

// aborted is the result of a command that the person interrupted, or that they were asked about when they did.
const aborted = "aborted by user"

func judgeCommand(text string) (discover.ToolState, string) {
	if o := native.Object(text); strings.HasPrefix(text, "{") && o.Complete() { // {"output":"…","metadata":{"exit_code":0,…}}
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
			case found: // of what stands before the output, the rest is the agent's bookkeeping
				return discover.ToolFailed, line + "\n" + output
			}
			return discover.ToolFailed, text
		}
	}
	if strings.HasSuffix(text, aborted) {
		if time, rest, ok := strings.Cut(text, "\n"); ok && strings.HasPrefix(time, "Wall time: ") {
			text = rest
		}
		return discover.ToolFailed, text
	}
	return discover.ToolDone, text
}
