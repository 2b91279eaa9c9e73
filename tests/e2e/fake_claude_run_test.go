package e2e_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
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
	prompt := strings.Join(append(o.words, stdin), "")
	switch {
	case unknown != "":
		return "", refusal{1, fmt.Sprintf("error: unknown option '%s'", unknown)}
	case c.mode == "bypassPermissions" && os.Geteuid() == 0:
		return "", refusal{1, "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons"}
	case len(stdin) > 10<<20:
		return "", refusal{1, "Error: piped stdin input exceeds 10MB. Pass large content as a file path in your prompt instead."}
	case strings.TrimSpace(prompt) == "":
		return "", refusal{1, "Error: Input must be provided either through stdin or as a prompt argument when using --print"}
	}
	return prompt, c.choose(o.first("--session-id"), o.first("--resume", "-r"), o.first("--fork-session") != "")
}

// choose finds out which session this is.
func (c *claude) choose(id, resumed string, fork bool) error {
	switch c.id = id; {
	case id != "" && !regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`).MatchString(id):
		return refusal{1, "Error: Invalid session ID. Must be a valid UUID."}
	case id != "" && resumed != "" && !fork:
		return refusal{1, "Error: --session-id can only be used with --continue or --resume if --fork-session is also specified."}
	case id != "" && c.stored():
		return refusal{1, fmt.Sprintf("Error: Session ID %s is already in use.", id)}
	case id == "":
		c.id = uuid(4)
	}
	if resumed == "" {
		return nil
	}
	chosen := c.id
	if c.id = resumed; !c.stored() {
		return refusal{1, "No conversation found with session ID: " + resumed}
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

func (c *claude) stored() bool {
	_, err := os.Stat(c.transcript())
	return !errors.Is(err, fs.ErrNotExist)
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
