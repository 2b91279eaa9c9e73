package copilot

import (
	"context"
	"fmt"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
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
	return p, 0, unsupported("takes messages and answers only in a terminal that was started as copilot --ui-server: this session's was not, and its user can type there")
}

// CheckSend implements [launch.Adapter].
func (Adapter) CheckSend(s discover.Session, _ launch.Environment) error {
	_, _, err := findServer(s)
	return err
}

// Send implements [launch.Adapter]. The agent answers with the ID that the message gets in its records (SEEN 1.0.102).
func (Adapter) Send(ctx context.Context, s discover.Session, text string, _ launch.Environment) (launch.SentMessage, error) {
	sent := launch.SentMessage{Text: text}
	answer, err := callServer(ctx, s, "session.send", map[string]any{"sessionId": s.ID, "prompt": text})
	sent.ID = answer.Get("messageId").Text(idLimit)
	return sent, err
}

// callServer joins the session in its terminal's server, and calls one method there.
func callServer(ctx context.Context, s discover.Session, method string, params any) (storage.Object, error) {
	p, port, err := findServer(s)
	if err != nil {
		return nil, err
	}
	conn, err := p.Dial(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	c, err := connect(conn, conn)
	if err == nil {
		_, err = c.Call("session.resume", map[string]string{"sessionId": s.ID}) // a client of this session only
	}
	var answer storage.Object
	if err == nil {
		answer, err = c.Call(method, params)
	}
	if err != nil && ctx.Err() != nil {
		err = ctx.Err() // the connection ends with it
	}
	return answer, err
}

// IsSent implements [launch.Adapter]. 1.0.82 does not record the ID, 1.0.92 does: without one, the text counts.
func (Adapter) IsSent(m discover.Message, sent launch.SentMessage) bool {
	return m.Role == discover.RoleUser && (m.SentID == sent.ID && sent.ID != "" || m.SentID == "" && m.Text == sent.Text)
}
