package e2e_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"agentctl/proc"
)

// claude leaves what Claude Code 2.1.197 leaves: a registry entry with the process's start, and a transcript that is
// opened, appended to and closed for every batch.
type claude struct {
	home, cwd string
	print     bool
	stream    bool // stream-json, not text
	id        string
	// model, mode (of permissions) and name are as the command line says.
	model, mode, name string
	last              string    // uuid of the newest record
	call              string    // and of the newest tool call
	began             time.Time // and start, when the process started: by the clock, and by the kernel
	start             string
	// status and waitingFor are what is registered.
	status, waitingFor string
	inbox              inbox
}

func newClaude() *claude {
	self, err := proc.Inspect(os.Getpid())
	if err != nil {
		panic(err)
	}
	return &claude{
		home: home("CLAUDE_CONFIG_DIR", ".claude"), cwd: workDir(), print: slices.Contains(os.Args, "-p"),
		began: time.Now(), start: fmt.Sprint(self.Ticks), model: "claude-opus-4-8", mode: "default",
	}
}

func (c *claude) handle(verb, rest string) (string, error) {
	c.inbox.Lock()
	defer c.inbox.Unlock()
	switch verb {
	case "begin": // [ID]: registers, as at the start
		if c.id = rest; c.id == "" {
			c.id = uuid(4)
		}
		return "id=" + c.id, c.register("idle", "")
	case "clear", "resume": // ID: another session in the same process
		c.id, c.last = rest, ""
		return "id=" + c.id, c.register("idle", "")
	case "busy": // a turn begins, and nothing is on disk yet
		return "", c.register("busy", "")
	case "prompt": // TEXT
		return "", errors.Join(c.register("busy", ""), c.prompt(unquoted(rest)))
	case "tool": // COMMAND: the model asks for it, and it does not return
		return "", errors.Join(c.register("busy", ""), c.tool(rest))
	case "return": // TEXT: the call does
		return "", errors.Join(c.register("busy", ""), c.returned(unquoted(rest)), c.write(c.attachMessages()...))
	case "ask": // for permission
		return "", c.register("waiting", "permission prompt")
	case "answer": // TEXT: the turn ends
		return "", errors.Join(c.write(c.assistant("end_turn", object{"type", "text", "text", rest})), c.register("idle", ""), c.nextMessage())
	case "fail": // TEXT: the turn ends with an error
		return "", errors.Join(c.fail(rest), c.register("idle", ""))
	case "title": // TEXT
		return "", c.write(object{"type", "custom-title", "customTitle", unquoted(rest), "sessionId", c.id})
	case "raw": // TEXT: any bytes in place of a record
		return "", appendTo(c.transcript(), []byte(escaped(rest)+"\n"))
	case "listen": // [drop]: for messages, as 2.1.330
		return "", c.listen(rest)
	case "leave": // a normal exit
		return "", os.Remove(c.registry())
	}
	return "", errUnknownOrder
}

func (c *claude) registry() string {
	return filepath.Join(c.home, "sessions", fmt.Sprintf("%d.json", os.Getpid()))
}

// register rewrites the registry entry. Print mode of this version has no status in it.
func (c *claude) register(status, waitingFor string) error {
	c.status, c.waitingFor = status, waitingFor
	name, source := filepath.Base(c.cwd)+"-1", object{"nameSource", "derived"}
	if c.name != "" {
		name, source = c.name, nil
	}
	entry := object{
		"pid", os.Getpid(), "sessionId", c.id, "cwd", c.cwd, "startedAt", c.began.UnixMilli(), "procStart", c.start,
		"version", c.version(), "peerProtocol", 1, "kind", "interactive", "entrypoint", c.entrypoint(), "name", name,
	}
	entry = append(entry, source...)
	if !c.print {
		entry = append(entry, "status", status, "updatedAt", time.Now().UnixMilli())
	}
	if c.inbox.path != "" {
		entry = append(entry, "messagingSocketPath", c.inbox.path)
	}
	if waitingFor != "" {
		entry = append(entry, "waitingFor", waitingFor)
	}
	if err := os.MkdirAll(filepath.Dir(c.registry()), 0o700); err != nil {
		return err
	}
	return os.WriteFile(c.registry(), lines(entry), 0o644)
}

// version is 2.1.330 for one that takes messages.
func (c *claude) version() string {
	if c.inbox.path != "" {
		return "2.1.330"
	}
	return "2.1.197"
}

func (c *claude) entrypoint() string {
	if c.print {
		return "sdk-cli"
	}
	return "cli"
}

// slug names the project directory after a working directory, as Claude Code does for paths that are not too long.
func slug(dir string) string {
	var b strings.Builder
	for _, u := range utf16.Encode([]rune(dir)) {
		if r := rune(u); r < 0x80 && (r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z') {
			b.WriteRune(r)
		} else {
			b.WriteByte('-')
		}
	}
	return b.String()
}

func (c *claude) transcript() string {
	return filepath.Join(c.home, "projects", slug(c.cwd), c.id+".jsonl")
}

func (c *claude) write(records ...object) error { return appendLines(c.transcript(), records...) }

// prompt stores what the user asks. Print mode takes it from a queue first.
func (c *claude) prompt(text string) error {
	var queued []object
	if c.print {
		for _, operation := range []string{"enqueue", "dequeue"} {
			content := ""
			if operation == "enqueue" {
				content = text
			}
			queued = append(queued, c.operation(operation, content))
		}
	}
	return c.write(append(queued, c.user(text))...)
}

// tool stores that the model asks for a command.
func (c *claude) tool(command string) error {
	c.call = "toolu_" + uuid(4)[:8]
	return c.write(c.assistant("tool_use", object{
		"type", "tool_use", "id", c.call, "name", "Bash", "input", object{"command", command},
	}))
}

// returned stores what the newest call has.
func (c *claude) returned(text string) error {
	return c.write(c.message("user", object{"role", "user", "content", []any{
		object{"tool_use_id", c.call, "type", "tool_result", "content", text, "is_error", false},
	}}))
}

// fail stores that the turn has ended with the API's error.
func (c *claude) fail(text string) error {
	r := c.reply("<synthetic>", "stop_sequence", object{"type", "text", "text", text})
	return c.write(append(r, "isApiErrorMessage", true, "error", "server_error"))
}

// message puts one into what every record of a conversation has; the agent writes the type of the user's
// messages before them, and of the model's after.
func (c *claude) message(kind string, message object) object {
	r := object{"parentUuid", nil, "isSidechain", false, "type", kind, "message", message}
	if c.last != "" {
		r[1] = c.last
	}
	if kind == "assistant" {
		r = append(r[:4:4], "message", message, "type", kind)
	}
	c.last = uuid(4)
	return append(r, "uuid", c.last, "timestamp", stamp(), "userType", "external", "entrypoint", c.entrypoint(), "cwd", c.cwd,
		"sessionId", c.id, "version", c.version(), "gitBranch", "main")
}

func (c *claude) user(text string) object {
	return append(c.message("user", object{"role", "user", "content", text}), "permissionMode", c.mode)
}

func (c *claude) assistant(stop string, block object) object {
	return c.reply(c.model, stop, block)
}

func (c *claude) reply(model, stop string, block object) object {
	return c.message("assistant", object{
		"id", "msg_" + uuid(4)[:8], "type", "message", "role", "assistant", "model", model, "content",
		[]any{block},
		"stop_reason", stop, "usage",
		object{
			"input_tokens", 100, "cache_creation_input_tokens", 7, "cache_read_input_tokens", 11, "output_tokens", 20,
		},
	})
}
