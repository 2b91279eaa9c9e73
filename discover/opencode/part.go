package opencode

import (
	"strings"

	"agentctl/discover"
	"agentctl/discover/native/jsonl"
)

// part is a part of a message: a text, a tool call and others.
type part struct {
	kind, text  string
	hidden      bool   // written by the agent, not by the user
	Tool        string // the tool's name
	status      string
	hasMetadata bool   // the tool has begun to report
	Command     string // of a shell tool
	Child       string // the session of a sub-agent
	errText     string
	Started     int64  // when the tool call began, in milliseconds since 1970
	input       string // the JSON input of a tool call that has not ended
}

// parsePart parses the JSON of a part.
func parsePart(data []byte) (p part) {
	for key, v := range jsonl.Object(data).Members() {
		switch string(key) {
		case "type":
			p.kind = v.Text(nameLimit)
		case "text":
			p.text = discover.Truncate(discover.StripContextFiles(v.Text(0)), promptLimit)
		case "synthetic", "ignored":
			p.hidden = p.hidden || strings.HasPrefix(string(v), "true")
		case "tool":
			p.Tool = v.Text(nameLimit)
		case "state":
			p.parseState(v.Object())
		}
	}
	return p
}

func (p *part) parseState(o jsonl.Object) {
	input, metadata := o.Get("input"), o.Get("metadata")
	p.status, p.errText = o.Get("status").Text(nameLimit), o.Get("error").Text(errorLimit)
	p.Command = input.Object().Get("command").Text(argLimit)
	p.hasMetadata, p.Child = metadata != nil, metadata.Object().Get("sessionId").Text(nameLimit)
	p.Started = o.Get("time").Object().Get("start").Int()
	if p.status == statusRunning {
		p.input = string(input.Raw())
	}
}

// isPrompt reports whether the user wrote the text.
func (p part) isPrompt() bool { return p.kind == "text" && p.text != "" && !p.hidden }

// shellNote is the only text in the user's message for a command that the user gave with "!". The command itself is a call of bash
// in an answer to that message, which no model wrote (SEEN 1.1.65, 1.18.33).
const shellNote = "The following tool was executed by the user"

func (p part) isShellNote() bool { return p.hidden && p.text == shellNote }

// statusRunning is the status of a tool call that has its input and has not ended. It may wait for the user.
const statusRunning = "running"

// running reports whether the part is a tool call that has not ended.
func (p part) running() bool { return p.kind == "tool" && p.status == statusRunning }

// partType returns the type of a part, for which the beginning of its JSON is enough; "" if the type is not in it.
func partType(o jsonl.Object) string { return o.Get("type").Text(nameLimit) }

// isHiddenType reports whether parts of a type are never shown.
func isHiddenType(kind string) bool {
	switch kind {
	case "", "text", "tool", "subtask", "compaction":
		return false
	}
	return true
}
