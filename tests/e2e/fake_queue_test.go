package e2e_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

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
