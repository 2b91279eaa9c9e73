package e2e_test

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

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
	if unknown != "" {
		return "", refusal{1, fmt.Sprintf("error: unknown option '%s'", unknown)}
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
