package e2e_test

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// codex leaves what Codex 0.169 leaves: for each thread a lock that it holds, and from the first prompt on a rollout
// that stays open for writing.
type codex struct {
	home, cwd string
	exec      bool
	json      bool   // prints events
	model     string // and sandbox, as the command line says
	sandbox   string
	first     string  // the thread to begin with, if it is not a new one
	source    *thread // what it is a fork of
	threads   map[string]*thread
	now       *thread
}

type thread struct {
	id, turn string
	call     string // the newest of a tool
	lock     int    // held for as long as the process lives
	rollout  *os.File
	ordinal  int
}

func newCodex() *codex {
	// It watches its configuration, which its clients do not.
	if _, err := inotify(); err != nil {
		panic(err)
	}
	return &codex{
		home: home("CODEX_HOME", ".codex"), cwd: workDir(), exec: slices.Contains(os.Args, "exec"),
		model: "gpt-5.5", sandbox: "read-only", threads: map[string]*thread{},
	}
}

func (c *codex) handle(verb, rest string) (string, error) {
	if verb == "begin" { // [ID]: a thread of the process; an ID that is known becomes the current one
		return c.begin(rest)
	}
	if c.now == nil {
		return "", fmt.Errorf("no thread was begun")
	}
	switch verb {
	case "prompt": // TEXT
		return "", c.prompt(unquoted(rest))
	case "dequeue": // takes a message from the queue
		return "", c.takeQueued()
	case "tool": // COMMAND
		return "", c.tool(rest)
	case "ask": // for permission to run COMMAND outside of the sandbox; the call is five seconds old
		asked := time.Now().Add(-5 * time.Second).UTC().Format(stampLayout)
		return "", c.callAt(asked, object{"cmd", rest, "sandbox_permissions", "require_escalated"})
	case "return": // TEXT: the call does
		return "", c.write("response_item", object{"type", "function_call_output", "call_id", c.now.call, "output", unquoted(rest)})
	case "answer": // TEXT
		return "", errors.Join(c.say(unquoted(rest)), c.complete(object{"last_agent_message", rest}))
	case "fail": // TEXT
		return "", c.complete(object{"last_agent_message", nil, "error", object{"message", rest, "codex_error_info", "other"}})
	case "raw": // TEXT: any bytes in place of a record
		_, err := c.now.rollout.WriteString(escaped(rest) + "\n")
		return "", err
	}
	return "", errUnknownOrder
}

func (c *codex) begin(id string) (string, error) {
	if id == "" {
		id = uuid(7)
	}
	if c.threads[id] == nil {
		dir := filepath.Join(c.home, "thread-writer-locks")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return "", err
		}
		fd, err := unix.Open(filepath.Join(dir, id+".lock"), unix.O_RDWR|unix.O_CREAT|unix.O_CLOEXEC, 0o600)
		if err != nil {
			return "", err
		}
		if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); err != nil {
			return "", fmt.Errorf("it already has an active writer: %w", err)
		}
		c.threads[id] = &thread{id: id, lock: fd}
	}
	c.now = c.threads[id]
	return "id=" + id, nil
}

func (c *codex) prompt(text string) error { return c.promptOf(uuid(4), text) }

// promptOf begins a turn with a message to which its client has given an ID.
func (c *codex) promptOf(client, text string) error {
	if c.now.rollout == nil {
		if err := c.open(); err != nil {
			return err
		}
	}
	c.now.turn = uuid(7)
	for _, r := range []struct {
		kind    string
		payload object
	}{
		{"event_msg", object{"type", "task_started", "turn_id", c.now.turn, "started_at", time.Now().Unix()}},
		{"turn_context", object{
			"turn_id", c.now.turn, "cwd", c.cwd, "model", c.model, "approval_policy", c.approval(),
			"sandbox_policy",
			object{"type", c.sandbox},
		}},
		{"event_msg", object{
			"type", "item_completed", "thread_id", c.now.id, "turn_id", c.now.turn,
			"item",
			object{"type", "UserMessage", "id", uuid(7), "client_id", client, "content", []any{object{"type", "text", "text", text}}},
		}},
	} {
		if err := c.write(r.kind, r.payload); err != nil {
			return err
		}
	}
	return nil
}

// approval is that of the defaults: a headless run asks nobody.
func (c *codex) approval() string {
	if c.exec {
		return "never"
	}
	return "on-request"
}

// stored finds a thread's rollout, "" if there is none.
func (c *codex) stored(id string) (string, error) {
	found, err := filepath.Glob(filepath.Join(c.home, "sessions/*/*/*/rollout-*-"+id+".jsonl"))
	if err != nil || len(found) == 0 {
		return "", err
	}
	return found[0], nil
}

// open finds the thread's rollout, or makes it with its first record.
func (c *codex) open() error {
	old, err := c.stored(c.now.id)
	if err != nil {
		return err
	}
	path := filepath.Join(c.home, "sessions", time.Now().Format("2006/01/02"),
		fmt.Sprintf("rollout-%s-%s.jsonl", time.Now().Format("2006-01-02T15-04-05"), c.now.id))
	if old != "" {
		path = old
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if c.now.rollout, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600); err != nil || old != "" {
		return err
	}
	source, originator := "cli", "codex-tui"
	if c.exec {
		source, originator = "exec", "codex_exec"
	}
	meta := object{
		"session_id", c.now.id, "id", c.now.id, "timestamp", stamp(), "cwd", c.cwd, "originator", originator, "cli_version", "0.169.0",
		"source", source, "thread_source", "user", "model_provider", "mock", "base_instructions",
		object{"text", "You are a coding agent."},
		"history_mode", "paginated", "git",
		object{"branch", "main"},
	}
	if c.source != nil {
		c.now.ordinal = c.source.ordinal
		meta = append(meta, "forked_from_id", c.source.id, "history_base", object{
			"thread_id", c.source.id, "end_ordinal_exclusive", c.source.ordinal,
		})
	}
	return c.write("session_meta", meta)
}

// say stores what the model says, if that is anything.
func (c *codex) say(text string) error {
	if text == "" {
		return nil
	}
	return c.write("event_msg", object{
		"type", "item_completed", "thread_id", c.now.id, "turn_id", c.now.turn,
		"item",
		object{"type", "AgentMessage", "id", uuid(7), "content", []any{object{"type", "Text", "text", text}}},
	})
}

// tool stores that the model asks for a command.
func (c *codex) tool(command string) error { return c.callAt(stamp(), object{"cmd", command}) }

func (c *codex) callAt(at string, arguments object) error {
	c.now.call = "call_" + uuid(4)[:8]
	return c.writeAt(at, "response_item", object{
		"type", "function_call", "name", "exec_command", "call_id", c.now.call,
		"arguments", strings.TrimSpace(string(lines(arguments))),
	})
}

func (c *codex) interrupt() error {
	return c.write("event_msg", object{"type", "turn_aborted", "turn_id", c.now.turn, "reason", "interrupted"})
}

// complete ends the turn.
func (c *codex) complete(how object) error {
	usage := object{
		"input_tokens", 1000, "cached_input_tokens", 600, "output_tokens", 50, "reasoning_output_tokens", 10, "total_tokens", 1050,
	}
	err := c.write("event_msg", object{"type", "token_count", "info", object{
		"total_token_usage", usage, "last_token_usage", usage, "model_context_window", 258400,
	}})
	if err != nil {
		return err
	}
	how = append(object{"type", "task_complete", "turn_id", c.now.turn}, how...)
	now := time.Now().Unix()
	return c.write("event_msg", append(how, "started_at", now, "completed_at", now))
}

func (c *codex) write(kind string, payload object) error { return c.writeAt(stamp(), kind, payload) }

func (c *codex) writeAt(at, kind string, payload object) error {
	_, err := c.now.rollout.Write(lines(object{
		"timestamp", at, "ordinal", c.now.ordinal, "type", kind, "payload", payload,
	}))
	c.now.ordinal++
	return err
}

// What `codex exec` of 0.169 takes.
const (
	codexValued = " -C --cd -m --model -s --sandbox -c --config --enable --disable -p --profile --add-dir -i --color "
	codexPlain  = " --json --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox --full-auto --ephemeral "
)

func (c *codex) accept(args []string, stdin string) (string, error) {
	o, unknown := parseOptions(args, codexValued, codexPlain)
	full := o.first("--dangerously-bypass-approvals-and-sandbox") != ""
	c.json = o.first("--json") != ""
	c.model = cmp.Or(o.first("-m", "--model"), c.model)
	c.sandbox = cmp.Or(o.first("-s", "--sandbox"), c.sandbox)
	if full {
		c.sandbox = "danger-full-access"
	}
	c.cwd = cmp.Or(o.first("-C", "--cd"), c.cwd)
	switch {
	case unknown != "":
		return "", refusal{2, fmt.Sprintf("error: unexpected argument '%s' found", unknown)}
	case !full && o.first("--skip-git-repo-check") == "" && !inRepository(c.cwd):
		return "", refusal{1, "Not inside a trusted directory and --skip-git-repo-check was not specified."}
	}
	words := o.words[min(1, len(o.words)):] // what follows "exec"
	verb := ""
	if len(words) > 1 && (words[0] == "resume" || words[0] == "fork") {
		verb, c.first, words = words[0], words[1], words[2:]
	}
	prompt := strings.Join(words, " ")
	if prompt == "-" || prompt == "" {
		fmt.Fprintln(os.Stderr, "Reading prompt from stdin...")
		prompt = stdin
	}
	return prompt, c.choose(verb)
}

// inRepository reports whether there is a .git, be it empty, in dir or above. What is above the script's own directory,
// which its home is in, has no say.
func inRepository(dir string) bool {
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		if dir == filepath.Dir(dir) || dir == filepath.Dir(os.Getenv("HOME")) {
			return false
		}
	}
}

// choose finds out what becomes of the thread that the command line names.
func (c *codex) choose(verb string) error {
	if verb == "" {
		return nil
	}
	path, err := c.stored(c.first)
	if err != nil {
		return err
	}
	if path == "" {
		return refusal{1, fmt.Sprintf("Error: thread/%s: thread/%[1]s failed: no rollout found for thread id %s (code -32600)", verb, c.first)}
	}
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	ordinal := bytes.Count(old, []byte("\n"))
	if verb == "fork" {
		c.source = &thread{id: c.first, ordinal: ordinal}
		c.first = ""
		return nil
	}
	if _, err := c.begin(c.first); err != nil {
		return refusal{1, fmt.Sprintf("Error: thread/resume: thread/resume failed: thread %s already has an active writer (code -32600)", c.first)}
	}
	c.now.ordinal = ordinal
	return nil
}

func (c *codex) appear() error {
	if _, err := c.begin(c.first); err != nil {
		return err
	}
	return c.event(object{"type", "thread.started", "thread_id", c.now.id})
}

// event prints a line of JSON, where that was asked for.
func (c *codex) event(e object) error {
	if !c.json {
		return nil
	}
	_, err := os.Stdout.Write(lines(e))
	return err
}

func (c *codex) record(prompt string) error {
	return errors.Join(c.open(), c.event(object{"type", "turn.started"}), c.prompt(prompt))
}

func (c *codex) result(text string) error {
	return c.write("response_item", object{"type", "function_call_output", "call_id", c.now.call, "output", text})
}

func (c *codex) retry() error {
	return c.event(object{"type", "error", "message", "Reconnecting... 1/5 (stream disconnected before completion)"})
}

func (c *codex) finish(text string, failed bool) (code int, err error) {
	if failed {
		code = 1
		err = c.complete(object{"last_agent_message", nil, "error", object{"message", text, "codex_error_info", "other"}})
		err = errors.Join(err, c.event(object{"type", "turn.failed", "error", object{"message", text}}))
	} else {
		err = c.write("event_msg", object{
			"type", "item_completed", "thread_id", c.now.id, "turn_id", c.now.turn,
			"item",
			object{"type", "AgentMessage", "id", "msg_" + uuid(4), "content", []any{object{"type", "Text", "text", text}}},
		})
		err = errors.Join(err, c.complete(object{"last_agent_message", text}),
			c.event(object{"type", "item.completed", "item", object{"id", "item_0", "type", "agent_message", "text", text}}),
			c.event(object{"type", "turn.completed", "usage", object{"input_tokens", 1000, "output_tokens", 50}}))
	}
	switch {
	case c.json:
	case failed:
		fmt.Fprintln(os.Stderr, "ERROR: "+text)
	default:
		fmt.Println(text)
	}
	return code, errors.Join(err, c.unlock())
}

// unlock lets go of the thread. What killed processes have left is taken away by the next one.
func (c *codex) unlock() error {
	err := os.Remove(filepath.Join(c.home, "thread-writer-locks", c.now.id+".lock"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func (c *codex) markers() []string {
	return []string{
		"CODEX_THREAD_ID=" + c.now.id, "CODEX_SESSION_ID=" + c.now.id, "CODEX_TOOL_CALL_ID=" + c.now.call,
		"CODEX_VERSION=0.169.0", "CODEX_CI=1",
	}
}

func (c *codex) handledSignals() []os.Signal {
	return []os.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP}
}

// asked: an interrupt ends the turn in good order; by another signal it dies where it stands, and the tool with it.
func (c *codex) onSignal(sig syscall.Signal, kill func() bool) {
	kill()
	if sig != unix.SIGINT {
		endBySignal(sig)
	}
	if c.now != nil && c.now.rollout != nil {
		_ = c.interrupt()
	}
	if c.now != nil {
		_ = c.unlock()
	}
	os.Exit(1)
}

// queuedMessage is a message in the queue of a Codex home.
type queuedMessage struct {
	Thread string                  `json:"threadId"`
	ID     string                  `json:"clientUserMessageId"`
	Input  []struct{ Text string } `json:"input"`
}

// queuePath stands for queue_1.sqlite.
func queuePath(home string) string { return filepath.Join(home, "queue") }

// serveQueue is `codex app-server` of 0.169 on stdin and stdout, as far as the queue goes; it returns if the command line is another.
// With OLD_RELEASE, it is 0.147, which has no queue.
func serveQueue() {
	if !slices.Equal(os.Args[1:], []string{"app-server"}) {
		return
	}
	dir := home("CODEX_HOME", ".codex")
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 2<<20)
	for in.Scan() {
		var q struct {
			ID     int
			Method string
			Params queuedMessage
		}
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			refuse(1, "Error: %v", err)
		}
		key, value := "result", object{}
		stored, err := (&codex{home: dir}).stored(q.Params.Thread)
		switch {
		case q.ID == 0:
			continue
		case q.Method == "initialize":
		case q.Method != "thread/queue/add" || os.Getenv("OLD_RELEASE") != "":
			key, value = "error", object{"code", -32600, "message", "Invalid request: unknown variant `" + q.Method + "`"}
		case err != nil || stored == "":
			key, value = "error", object{"code", -32603, "message", "failed to read thread: invalid thread-store request: no rollout found for thread id " + q.Params.Thread}
		default:
			message, err := json.Marshal(q.Params)
			if err == nil {
				err = appendTo(queuePath(dir), append(message, '\n'))
			}
			if err != nil {
				refuse(1, "Error: %v", err)
			}
			value = object{"queuedSubmission", object{"id", uuid(7), "clientUserMessageId", q.Params.ID}}
		}
		if _, err := os.Stdout.Write(lines(object{"id", q.ID, key, value})); err != nil {
			refuse(1, "Error: %v", err)
		}
	}
	os.Exit(0)
}

// takeQueued begins a turn with the oldest message that is queued for the thread, and leaves the others. No other process takes or
// adds one meanwhile: the scripts see to that.
func (c *codex) takeQueued() error {
	raw, err := os.ReadFile(queuePath(c.home))
	if err != nil {
		return err
	}
	var rest []byte
	var taken *queuedMessage
	for line := range bytes.Lines(raw) {
		var m queuedMessage
		if err := json.Unmarshal(line, &m); err != nil {
			return err
		}
		if taken == nil && m.Thread == c.now.id {
			taken = &m
			continue
		}
		rest = append(rest, line...)
	}
	if taken == nil {
		return fmt.Errorf("nothing is queued for %s", c.now.id)
	}
	if err := os.WriteFile(queuePath(c.home), rest, 0o600); err != nil {
		return err
	}
	return c.promptOf(taken.ID, taken.Input[0].Text)
}
