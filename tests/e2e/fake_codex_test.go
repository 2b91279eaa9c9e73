package e2e_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
