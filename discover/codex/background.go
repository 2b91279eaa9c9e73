package codex

import (
	"bytes"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native"
)

// A command that outlives what exec_command waits for goes on in the background: the result names it by a number, and the model
// waits for it, or types into it, by calls of write_stdin with that number (READ, SEEN 0.169).
const (
	stdinTool  = "write_stdin"
	background = "running with session ID "
	// searched is how far back the call that began the command is looked for, in bytes.
	searched = 4 << 20
)

// brief gives a call of write_stdin the command that it is about.
func (t *transcript) brief(c *discover.ToolCall, at int64) {
	if c.Name != stdinTool || c.Brief != "" {
		return
	}
	number := string(native.Object(c.Input).Get("session_id").Raw())
	if number == "" {
		return
	}
	key := t.path + "#" + number
	command, known := t.commands[key]
	if !known {
		command = backgroundCommand(t.file.Head(at), number)
		if t.commands == nil {
			t.commands = map[string]string{}
		}
		t.commands[key] = command
	}
	c.Brief = command
}

// backgroundCommand finds the call that began the newest command of this number, reading backwards: first a result that names
// the number, then its call. That may be another call of write_stdin, before which there is a result again.
func backgroundCommand(f *native.File, number string) (command string) {
	results := map[string]bool{}
	_, err := f.Backward(searched, func(l native.Line) bool {
		r, ok := decode(l.Bytes, "")
		switch {
		case !ok || l.Cut:
		case r.is == toolResult && bytes.Contains(l.Bytes, []byte(background)) && r.whole(l.Bytes):
			if namesBackground(outputText(r.get("output")), number) {
				results[r.get("call_id").Text(0)] = true
			}
		case r.is == toolCall && results[r.get("call_id").Text(0)] && r.whole(l.Bytes):
			if c, ok := callOf(&r); ok && c.Name != stdinTool {
				command = c.Brief
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

// namesBackground reports whether a result says that its command goes on by this number.
func namesBackground(text, number string) bool {
	_, rest, ok := strings.Cut(text, background)
	rest, ok2 := strings.CutPrefix(rest, number)
	return ok && ok2 && (rest == "" || rest[0] < '0' || rest[0] > '9')
}
