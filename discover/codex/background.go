package codex

import (
	"bytes"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
	"agentctl/discover/native/jsonl"
)

// A command that outlives the time that exec_command waits for continues in the background. The result gives it a number, and the model
// waits for it, or types into it, with calls of write_stdin that have this number (READ, SEEN 0.169).
const (
	writeStdinTool = "write_stdin"
	backgroundText = "running with session ID "
	// commandSearchLimit is the number of bytes that are searched for the call that began the command.
	commandSearchLimit = 4 << 20
)

// setBackgroundCommand sets the brief of a write_stdin call to its command.
func (b *messageBuilder) setBackgroundCommand(c *discover.ToolCall, at int64) {
	if c.Name != writeStdinTool || c.Brief != "" {
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
	c.Brief = command
}

// backgroundCommand finds the newest command of this number. It reads backwards to a result that contains the number, and on to the
// call of that result. If the call is a write_stdin itself, it continues to an older result.
func backgroundCommand(f *fsread.File, number string) (command string) {
	results := map[string]bool{}
	_, err := f.Backward(commandSearchLimit, func(l fsread.Line) bool {
		r, ok := decodeRecord(l.Bytes, "")
		switch {
		case !ok || l.Cut:
		case r.Kind == kindToolResult && bytes.Contains(l.Bytes, []byte(backgroundText)) && r.Complete(l.Bytes):
			if isBackgroundResult(outputText(r.Get("output")), number) {
				results[r.Get("call_id").Text(0)] = true
			}
		case r.Kind == kindToolCall && results[r.Get("call_id").Text(0)] && r.Complete(l.Bytes):
			if c, ok := parseToolCall(&r); ok && c.Name != writeStdinTool {
				command = c.Brief
				return false
			}
		}
		return true
	})
	if err != nil {
		return "" // unknown; where it matters, the reader of the messages reports the error
	}
	return command
}

// isBackgroundResult reports whether a result says that its command continues under this number.
func isBackgroundResult(text, number string) bool {
	_, rest, ok := strings.Cut(text, backgroundText)
	rest, ok2 := strings.CutPrefix(rest, number)
	return ok && ok2 && (rest == "" || rest[0] < '0' || rest[0] > '9')
}
