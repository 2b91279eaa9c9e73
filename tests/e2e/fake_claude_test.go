package e2e_test

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf16"

	"golang.org/x/sys/unix"

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

// What `claude -p` of 2.1.197 takes.
const (
	claudeValued = " --session-id --resume -r --model --permission-mode --name -n --output-format --input-format" +
		" --append-system-prompt --max-turns --allowedTools --disallowedTools --add-dir --settings --fallback-model "
	claudePlain = " -p --print --fork-session --verbose --dangerously-skip-permissions --debug "
)

func (c *claude) accept(args []string, stdin string) (string, error) {
	o, unknown := parseOptions(args, claudeValued, claudePlain)
	c.print, c.stream = o.first("-p", "--print") != "", o.set["--output-format"] == "stream-json"
	c.model, c.name = o.first("--model", ""), o.first("--name", "-n")
	if c.model == "" {
		c.model = "claude-opus-4-8"
	}
	if c.mode = o.first("--permission-mode"); c.mode == "" {
		c.mode = "default"
	}
	if o.first("--dangerously-skip-permissions") != "" {
		c.mode = "bypassPermissions"
	}
	switch {
	case unknown != "":
		return "", refusal{1, fmt.Sprintf("error: unknown option '%s'", unknown)}
	case c.mode == "bypassPermissions" && os.Geteuid() == 0:
		return "", refusal{1, "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons"}
	}
	return strings.Join(append(o.words, stdin), ""), c.choose(o.first("--session-id"), o.first("--resume", "-r"), o.first("--fork-session") != "")
}

// choose finds out which session this is.
func (c *claude) choose(id, resumed string, fork bool) error {
	chosen := cmp.Or(id, uuid(4))
	if c.id = cmp.Or(resumed, chosen); resumed == "" {
		return nil
	}
	old, err := os.ReadFile(c.transcript())
	if err != nil {
		return err
	}
	c.last = lastUUID(old)
	if !fork {
		return nil
	}
	c.id = chosen
	return appendTo(c.transcript(), bytes.ReplaceAll(old, []byte(resumed), []byte(chosen)))
}

// lastUUID is the newest record's, which the next one follows.
func lastUUID(transcript []byte) (last string) {
	for lines := bufio.NewReader(bytes.NewReader(transcript)); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return last
		}
		var r struct{ UUID string }
		if json.Unmarshal(line, &r) == nil && r.UUID != "" {
			last = r.UUID
		}
	}
}

func (c *claude) appear() error {
	return errors.Join(c.register("busy", ""), c.event(object{
		"type", "system", "subtype", "init", "cwd", c.cwd, "session_id", c.id, "model", c.model, "permissionMode", c.mode,
	}))
}

// event prints a line of stream-json, where that was asked for.
func (c *claude) event(e object) error {
	if !c.stream {
		return nil
	}
	_, err := os.Stdout.Write(lines(e))
	return err
}

func (c *claude) record(prompt string) error {
	var title error
	if c.name != "" {
		title = c.write(object{"type", "custom-title", "customTitle", c.name, "sessionId", c.id})
	}
	return errors.Join(title, c.prompt(prompt))
}

func (c *claude) result(text string) error {
	return c.write(c.message("user", object{"role", "user", "content", []any{
		object{"tool_use_id", c.call, "type", "tool_result", "content", text, "is_error", false},
	}}))
}

func (c *claude) retry() error {
	return c.event(object{
		"type", "system", "subtype", "api_retry", "attempt", 1, "max_retries", 10, "retry_delay_ms", 1000,
		"error_status", 529, "error", "overloaded", "session_id", c.id,
	})
}

func (c *claude) finish(text string, failed bool) (code int, err error) {
	if failed {
		code, err = 1, c.fail(text)
	} else {
		err = c.write(c.assistant("end_turn", object{"type", "text", "text", text}))
	}
	err = errors.Join(err, c.event(object{
		"type", "result", "subtype", "success", "is_error", failed, "result", text, "session_id", c.id,
	}))
	if !c.stream {
		fmt.Println(text)
	}
	return code, errors.Join(err, os.Remove(c.registry()))
}

func (c *claude) markers() []string {
	return []string{
		"CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID=" + c.id, "CLAUDE_CODE_CHILD_SESSION=1",
		"CLAUDE_CODE_ENTRYPOINT=" + c.entrypoint(), "AI_AGENT=claude-code_2-1-197_agent",
	}
}

func (c *claude) handledSignals() []os.Signal {
	return []os.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP}
}

// asked: the agent ends by itself, with its registry entry. A tool of a run that prints stream-json lives on.
func (c *claude) onSignal(sig syscall.Signal, kill func() bool) {
	tool := !c.stream && kill()
	_ = os.Remove(c.registry()) // it may not be there yet
	switch {
	case sig == unix.SIGINT && tool:
		_ = c.write(c.user("[Request interrupted by user for tool use]"))
		os.Exit(1)
	case sig == unix.SIGINT:
		fmt.Println("Execution error")
		os.Exit(0)
	}
	os.Exit(128 + int(sig))
}

// inbox is where Claude Code 2.1.330 listens for messages: a socket that takes JSON lines.
type inbox struct {
	sync.Mutex // of the whole fake: messages come at any time
	path       string
	mode       string
	queue      []peerMessage // what the model has not got yet
}

// peerMessage is a line for the inbox.
type peerMessage struct {
	Type, From string
	ID         string `json:"msg_id"`
	Message    struct{ Role, Content string }
}

// listen opens the inbox and registers it. Mode "drop" drops each message, as too many from one sender are.
func (c *claude) listen(mode string) error {
	c.inbox.path, c.inbox.mode = filepath.Join(os.TempDir(), "cc-socks", fmt.Sprintf("%d.sock", os.Getpid())), mode
	if err := os.MkdirAll(filepath.Dir(c.inbox.path), 0o700); err != nil {
		return err
	}
	l, err := net.Listen("unix", c.inbox.path)
	if err != nil {
		return err
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				panic(err)
			}
			go c.receive(conn)
		}
	}()
	return c.register(c.status, c.waitingFor)
}

// receive reads the lines of a connection, and closes it when the other end has written all. It answers nothing.
func (c *claude) receive(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewScanner(conn)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var m peerMessage
		if json.Unmarshal(in.Bytes(), &m) != nil || m.Type != "user" || m.Message.Content == "" {
			continue
		}
		c.inbox.Lock()
		err := c.queueMessage(m)
		c.inbox.Unlock()
		if err != nil {
			panic(err)
		}
	}
}

func (c *claude) queueMessage(m peerMessage) error {
	if c.inbox.mode == "drop" {
		text := "Dropped a peer message from " + m.From + ": identical to the previous message from this sender."
		return c.write(c.system("informational", text))
	}
	c.inbox.queue = append(c.inbox.queue, m)
	err := c.write(c.operation("enqueue", m.Message.Content))
	if c.status == "idle" {
		err = errors.Join(err, c.nextMessage())
	}
	return err
}

// nextMessage begins a turn with the oldest message of the queue.
func (c *claude) nextMessage() error {
	if len(c.inbox.queue) == 0 {
		return nil
	}
	m := c.inbox.queue[0]
	c.inbox.queue = c.inbox.queue[1:]
	text := "Another Claude session sent a message:\n" + m.Message.Content + "\n\nThis came from another Claude session."
	r := append(c.user(text), "isMeta", true, "origin", m.origin(), "promptSource", "system")
	return errors.Join(c.register("busy", ""), c.write(c.operation("dequeue", ""), r))
}

// attachMessages gives the model what is queued after a tool's result.
func (c *claude) attachMessages() (records []object) {
	for _, m := range c.inbox.queue {
		r := c.message("attachment", nil)
		r = append(r[:4:4], append(object{"attachment", object{
			"type", "queued_command", "prompt", m.Message.Content, "source_uuid", uuid(4), "commandMode", "prompt",
			"origin", m.origin(), "timestamp", stamp(), "isMeta", true,
		}, "type", "attachment"}, r[8:]...)...)
		records = append(records, c.operation("remove", m.Message.Content), r)
	}
	c.inbox.queue = nil
	return records
}

func (m peerMessage) origin() object {
	return object{"kind", "peer", "from", m.From, "verifiedPeerPid", 1, "msg_id", m.ID}
}

// operation is a record of the queue.
func (c *claude) operation(name, content string) object {
	q := object{"type", "queue-operation", "operation", name, "timestamp", stamp(), "sessionId", c.id}
	if content != "" {
		q = append(q, "content", content)
	}
	return q
}

// system is a record of what the agent shows its user.
func (c *claude) system(subtype, text string) object {
	r := c.message("system", nil)
	return append(append(r[:4:4], "type", "system", "subtype", subtype, "content", text, "isMeta", false, "level", "warning"), r[8:]...)
}
