package opencode

import (
	"bytes"
	"cmp"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
)

// tool makes a message of a tool call. One part has the call and its result: {"callID","tool","state":{"status","input","output","error",
// "title","metadata","time"}}. The metadata has the output of a running shell command so far. A part of another type may have the members of
// the state itself. It is none if it has nothing of a call.
func (m *messageReader) tool(id string, o storage.Object) (item transcriptItem, ok bool) {
	kind, state := partType(o), o.Get("state").Object()
	if o.Get("state") == nil && kind != toolType {
		state = o
	}
	input, output, failure := state.First("input", "arguments"), state.First("output", "result", "text"), state.Get("error")
	call := discover.ToolCall{ID: o.Get("callID").Text(nameLimit), Input: bytes.Clone(input.Raw())}
	if kind != toolType && call.ID == "" && input == nil && output == nil {
		return item, false
	}
	call.Name = cmp.Or(o.Get("tool").Text(nameLimit), o.Get("name").Text(nameLimit), kind)
	switch status := state.Get("status").Text(nameLimit); {
	case status == "error" || valueText(failure) != "":
		call.State, call.Output = discover.ToolFailed, cmp.Or(valueText(failure), valueText(output))
		if isRefusal(call.Output) {
			call.State = discover.ToolRefused
		}
	case status == "completed" || output != nil || status == "" && kind != toolType:
		call.State, call.Output = discover.ToolDone, valueText(output)
	default:
		call.State, call.Output = discover.ToolOpen, state.Get("metadata").Object().Get("output").Text(0)
	}
	call.Brief = cmp.Or(brief(call), state.Get("title").Text(errorLimit))
	item = m.newItem(id, discover.KindTool, state.Get("time").Object().Get("start").Int(), "")
	item.Tool = &call
	return item, true
}

// toolType is the type of the parts that are tool calls.
const toolType = "tool"

// valueText returns a string, or the JSON of another value; "" for null.
func valueText(v storage.Value) string {
	if len(v) > 0 && v[0] == '"' {
		return v.Text(0)
	}
	return strings.TrimPrefix(string(v.Raw()), "null")
}

// brief returns the argument that describes a call best: of the names that tools use for their arguments, the first.
func brief(call discover.ToolCall) string {
	names := []string{"command", "filePath", "pattern", "url", "description", "query", "path", "name", "prompt"}
	if call.Name == "task" { // its command only says where the task came from
		names = []string{"description"}
	}
	o := storage.Object(call.Input)
	files := strings.Join(storage.ParsePatch(o.Get(patchKey).Text(0)).Files, ", ")
	return discover.Truncate(cmp.Or(o.FirstText(names...), files, o.FirstText("questions")), errorLimit)
}

// questionTool is the tool by which the model asks the user a question. Its call runs until the user answers.
const questionTool = "question"

// WaitingOn returns what a tool call asks the user.
func (p part) WaitingOn() *discover.WaitingOn {
	input := storage.Object(p.input)
	path := input.Get("filePath").Text(discover.PathLimit + 1)
	patch := storage.ParsePatch(input.Get(patchKey).Text(0))
	if len(patch.Files) == 1 {
		path = patch.Files[0]
	}
	call := discover.ToolCall{Name: p.Tool, Input: []byte(p.input)}
	on := discover.NewWaitingOn(p.Tool, brief(call), path, storage.Questions(input))
	on.ID = discover.Truncate(p.callID, discover.BriefLimit)
	on.Diff = callDiff(p.Tool, input, patch)
	return on
}

// patchKey is the name of the patch in the input of apply_patch, and of patch in older versions.
const patchKey = "patchText"

// callDiff counts the lines that a call changes; nil for a tool that edits no text, and where the call does not say how many.
func callDiff(tool string, input storage.Object, patch storage.Patch) *discover.Diff {
	switch {
	case len(patch.Files) > 0:
		return discover.NewDiff(patch.Added, patch.Removed, !patch.DeletesFiles)
	case tool == "write":
		return discover.NewDiff(storage.CountLines(input.Get("content").Text(0)), 0, false)
	case tool == "edit", tool == "multiedit":
		keys := storage.EditKeys{Old: "oldString", New: "newString", All: "replaceAll"}
		if added, removed, ok := keys.DiffLines(input); ok {
			return discover.NewDiff(added, removed, true)
		}
	}
	return nil
}

// reportDelay is how long a tool that reports at once may take for its first report: four seconds SEEN on a busy machine (1.18.33).
const reportDelay = 5 * time.Second

// maxSilence returns how long a tool may run before its first report; 0 for any time, as tools of MCP servers may. A call that is silent for
// longer waits for permission. The tools in the first case report at once (SEEN 1.18.33 for bash, write and task: nothing before the user's
// answer). webfetch ends after two minutes at the latest.
func maxSilence(tool string) time.Duration {
	switch tool {
	case "bash", "edit", "write", "patch", "multiedit", "apply_patch", "task":
		return reportDelay
	case "webfetch":
		return 2 * time.Minute
	}
	return 0
}

// isSilent reports whether the tool call has not reported so far, although its tool must within a bounded time.
func (p part) isSilent() bool {
	return maxSilence(p.Tool) > 0 && p.running() && !p.hasMetadata && p.Started > 0
}

// silentTooLong reports whether the tool call has been silent for longer than its tool may run in silence. Use it only if nothing else
// shows whether the call waits: a machine may be busier than any that was seen.
func (p part) silentTooLong(now time.Time) bool {
	return p.isSilent() && now.Sub(fromMillis(p.Started)) > maxSilence(p.Tool)
}
