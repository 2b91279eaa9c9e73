package e2e_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
)

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
