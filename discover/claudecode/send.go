package claudecode

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/launch"
	"agentctl/proc"
)

// findInbox finds the process that listens for the session's messages, and its socket, by what the processes register now. The error says why
// there is none: an [*launch.UnsupportedError], or what could not be read.
func findInbox(ctx context.Context, s discover.Session) (p proc.Process, socket string, err error) {
	refusal := unsupported("has registered no process for the session: it takes no messages (a session inside of another one, or a teammate)")
	for _, p := range s.Processes {
		pid := p.NamespacePID()
		entry, err := readRegistryEntry(ctx, s.ProcessHome(), pid)
		if storage.IsNotExist(err) {
			continue
		}
		if err == nil {
			err = entry.validate(p, pid)
		}
		switch {
		case err != nil:
			return p, "", fmt.Errorf("%s: %w", registryPath(s.ProcessHome(), pid), err)
		case entry.SessionID != s.ID:
			return p, "", fmt.Errorf("%s runs the session %s now", p.ID, entry.SessionID)
		case entry.MessagingSocket != "":
			return p, entry.MessagingSocket, nil
		default: // SEEN before 2.1.224: none; 2.1.224: off unless the vendor's server turns it on; 2.1.260: on
			refusal = unsupported("%s takes no messages: update Claude Code, then stop the session and resume it (agentctl stop, agentctl resume). "+
				"If it is the newest version, messages are off there, or its socket failed", entry.Version)
		}
	}
	return p, "", refusal
}

// CheckSend implements [launch.Adapter]. TUIs, background sessions and print runs take messages.
func (Adapter) CheckSend(s discover.Session, _ launch.Environment) error {
	_, _, err := findInbox(context.Background(), s)
	return err
}

// maxSentLine is the longest line that a session reads from its socket: in UTF-16 units with its end (READ 2.1.224-2.1.330), of which there
// are no more than bytes. It closes the connection, without an answer, on a longer one.
const maxSentLine = 1 << 20

// Send implements [launch.Adapter]. It writes one line to the session's socket, and returns when the session has read all of it.
// No key is needed: the socket is for the user alone. Claude Code drops a message with the same text and sender as the one before
// (SEEN 2.1.330), so that each message has a sender of its own.
func (Adapter) Send(ctx context.Context, s discover.Session, text string, _ launch.Environment) (launch.SentMessage, error) {
	sent := launch.SentMessage{Text: text, ID: storage.NewUUID()}
	line, err := sentLine(sent)
	if err != nil {
		return sent, err
	}
	p, socket, err := findInbox(ctx, s)
	if err != nil {
		return sent, err
	}
	if info, err := os.Lstat(socket); err != nil {
		return sent, storage.Cause(err)
	} else if info.Mode().Type() != os.ModeSocket {
		return sent, fmt.Errorf("%s is not a socket", socket)
	}
	conn, err := p.Dial(ctx, "unix", socket)
	if err != nil {
		return sent, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	if err := exchange(conn, line); err != nil {
		return sent, errors.Join(ctx.Err(), err)
	}
	return sent, nil
}

// exchange writes a line and waits until the other end has read it and closes the connection.
func exchange(conn net.Conn, line []byte) error {
	if _, err := conn.Write(line); err != nil {
		return err
	}
	if unix, ok := conn.(*net.UnixConn); ok {
		if err := unix.CloseWrite(); err != nil {
			return err
		}
	}
	_, err := storage.ReadAll(conn, 1<<20) // it answers nothing
	return err
}

// senderPrefix begins the sender's address in the transcript. It cannot be replied to.
const senderPrefix = "agentctl:"

// sentLine returns the line for a message.
func sentLine(sent launch.SentMessage) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false) // it would take six bytes for one
	message := map[string]string{"role": "user", "content": sent.Text}
	err := encoder.Encode(map[string]any{"type": "user", "from": senderPrefix + sent.ID, "msg_id": sent.ID, "message": message})
	if err != nil {
		return nil, err
	}
	if out.Len() > maxSentLine {
		return nil, unsupported("takes no message above 1 MiB, and this one has %d bytes as JSON: put the text into a file, and send the file's name", out.Len())
	}
	return out.Bytes(), nil
}

// IsSent implements [launch.Adapter]. The transcript has the sender's ID, and puts phrases of Claude Code's own around the text.
func (Adapter) IsSent(m discover.Message, sent launch.SentMessage) bool {
	return sent.ID != "" && m.SentID == sent.ID
}

// Refusal implements [launch.Adapter]. A session without permission prompts holds messages until its user approves them;
// one with too many of them drops them.
func (Adapter) Refusal(m discover.Message, sent launch.SentMessage) (text string, dropped bool) {
	switch {
	case m.Role != discover.RoleSystem:
	case strings.HasPrefix(m.Text, heldPrefix) && strings.Contains(m.Text, fmt.Sprintf("[verified pid %d]", os.Getpid())):
		return m.Text, false
	case strings.HasPrefix(m.Text, droppedPrefix) && strings.Contains(m.Text, senderPrefix+sent.ID):
		return m.Text, true
	}
	return "", false
}
