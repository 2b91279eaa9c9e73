package e2e_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

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
