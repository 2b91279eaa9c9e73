package copilot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/proc"
)

// findServer finds the process that takes messages for a session, and its port: a terminal that was started with --ui-server. Error:
// [*launch.UnsupportedError].
func findServer(s discover.Session) (p proc.Process, port int, err error) {
	for _, p := range s.Processes {
		args, err := p.Args()
		if err != nil || len(args) == 0 || !parseCmdline(args[1:]).uiServer {
			continue
		}
		if ports, err := p.ListenPorts(); err == nil && len(ports) == 1 {
			return p, ports[0], nil
		}
	}
	return p, 0, unsupported("takes messages only in a terminal that was started as copilot --ui-server: this session's was not, and its user can type there")
}

// CheckSend implements [launch.Adapter].
func (Adapter) CheckSend(s discover.Session, _ launch.Environment) error {
	_, _, err := findServer(s)
	return err
}

// Send implements [launch.Adapter]. The agent answers with the ID that the message gets in its records (SEEN 1.0.102).
func (Adapter) Send(ctx context.Context, s discover.Session, text string, _ launch.Environment) (launch.SentMessage, error) {
	sent := launch.SentMessage{Text: text}
	p, port, err := findServer(s)
	if err != nil {
		return sent, err
	}
	conn, err := p.Dial(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if errors.Is(err, proc.ErrOtherPeer) {
		return sent, fmt.Errorf("another process than %s listens on port %d, and is sent nothing", p.ID, port)
	}
	if err != nil {
		return sent, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	c, err := connect(conn, conn)
	session := map[string]string{"sessionId": s.ID}
	if err == nil {
		_, err = c.Call("session.resume", session) // a client of this session only
	}
	if err == nil {
		session["prompt"] = text
		answer, failed := c.Call("session.send", session)
		sent.ID, err = answer.Get("messageId").Text(idLimit), failed
	}
	if err != nil && ctx.Err() != nil {
		err = ctx.Err() // the connection ends with it
	}
	return sent, err
}

// IsSent implements [launch.Adapter].
func (Adapter) IsSent(m discover.Message, sent launch.SentMessage) bool {
	return m.Role == discover.RoleUser && sent.ID != "" && m.SentID == sent.ID
}
