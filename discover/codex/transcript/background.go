package transcript

import (
	"bytes"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
	"agentctl/discover/native/jsonl"
)

// A command that outlives what exec_command waits for goes on in the background: the result names it by a number, and the model
// waits for it, or types into it, by calls of write_stdin with that number (READ, SEEN 0.169).
const (
	writeStdinTool = "write_stdin"
	backgroundText = "running with session ID "
	// commandSearchLimit is how far back the call that began the command is looked for, in bytes.
	commandSearchLimit = 4 << 20
)

// setBackgroundCommand gives a call of write_stdin the command that it is about.
func (b *MessageBuilder) setBackgroundCommand(c *discover.ToolCall, at int64) {
	if c.Name != writeStdinTool || c.Summary != "" {
		return
	}
	number := string(jsonl.Object(c.Input).Get("session_id").Raw())
	if number == "" {
		return
	}
	command, known := b.commands[number]
	if !known {
		command = backgroundCommand(b.file.Head(at), number)
		if b.commands == nil {
			b.commands = map[string]string{}
		}
		b.commands[number] = command
	}
	c.Summary = command
}

// backgroundCommand finds the call that began the newest command of this number, reading backwards: first a result that names
// the number, then its call. That may be another call of write_stdin, before which there is a result again.
func backgroundCommand(f *fsread.File, number string) (command string) {
	results := map[string]bool{}
	_, err := f.Backward(commandSearchLimit, func(l fsread.Line) bool {
		r, ok := Decode(l.Bytes, "")
		switch {
		case !ok || l.Cut:
		case r.Kind == ToolResult && bytes.Contains(l.Bytes, []byte(backgroundText)) && r.Complete(l.Bytes):
			if isBackgroundResult(outputText(r.Get("output")), number) {
				results[r.Get("call_id").Text(0)] = true
			}
		case r.Kind == ToolCall && results[r.Get("call_id").Text(0)] && r.Complete(l.Bytes):
			if c, ok := ParseToolCall(&r); ok && c.Name != writeStdinTool {
				command = c.Summary
				return false
			}
		}
		return true
	})
	if err != nil {
		return "" // it is not known, which the transcript itself says where that matters
	}
	return command
}

// isBackgroundResult reports whether a result says that its command goes on by this number.
func isBackgroundResult(text, number string) bool {
	_, rest, ok := strings.Cut(text, backgroundText)
	rest, ok2 := strings.CutPrefix(rest, number)
	return ok && ok2 && (rest == "" || rest[0] < '0' || rest[0] > '9')
}
