package codex

import (
	"bufio"
	"context"
	"crypto/rand"
	"fmt"
	"slices"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/launch"
)

// firstQueueVersion is the first version that was seen to take messages of other clients and to store their IDs. 0.147 does not.
func firstQueueVersion() storage.Version { return storage.Version{0, 149} }

// findRecipient finds the process that takes the session's messages. Without a socket, it reads the queue of its home. Error:
// [*launch.UnsupportedError].
func findRecipient(s discover.Session) (appServer, error) {
	refusal := unsupported("shows no process that takes messages for the session")
	for _, p := range s.Processes {
		args, err := p.Args()
		if err != nil {
			return appServer{}, fmt.Errorf("reading the command line of %s: %w", p.ID, err)
		}
		version := storage.ParseVersion(binaryVersion(p.Exe))
		switch in := parseArgs(args); {
		case in.role == helper:
			continue
		case in.role == exec: // SEEN 0.169: it stores a message that was queued, and cuts the turn in which it would be read
			refusal = unsupported("exec takes no messages: it ends with its turn. Wait until it has ended (agentctl wait), then continue it (agentctl resume)")
		case in.isMCP:
			refusal = unsupported("mcp-server takes no messages that agentctl knows of: its client sends them")
		case version.Before(firstQueueVersion()):
			refusal = unsupported(fmt.Sprintf("%s takes no messages: update Codex, then stop the session and resume it (agentctl stop, agentctl resume)", version))
		default:
			return appServer{p, serverSocket(p)}, nil
		}
	}
	return appServer{}, refusal
}

// CheckSend implements [launch.Adapter]. Threads of the daemon, of other app-servers and of TUIs take messages.
func (Adapter) CheckSend(s discover.Session, host launch.Environment) error {
	to, err := findRecipient(s)
	switch {
	case err != nil || to.socket != "":
		return err
	case s.Path == "":
		return unsupported("queues no message for a session before its first prompt: type it in its terminal")
	}
	_, err = queueProgram(host)
	return err
}

// queueProgram returns the installed Codex if it has a queue of messages. Errors: [*launch.NotInstalledError],
// [*launch.UnsupportedError].
func queueProgram(host launch.Environment) (installation, error) {
	program, err := findInstallation(host)
	if err == nil && program.version.Before(firstQueueVersion()) {
		err = unsupported(fmt.Sprintf("%s, which is in PATH, has no queue of messages: put the session's version in PATH", program.version))
	}
	return program, err
}

// Send implements [launch.Adapter]. An app-server with a socket is sent the message. Every other process takes messages from the queue
// of its home only, which Codex itself writes. turn/start begins a turn in an idle thread; a turn in progress reads the message after the tool
// that runs. thread/queue/add has the message read in the next turn (SEEN 0.149-0.169).
func (Adapter) Send(ctx context.Context, s discover.Session, text string, host launch.Environment) (launch.SentMessage, error) {
	sent := launch.SentMessage{Text: text, ID: "agentctl-" + rand.Text()}
	to, err := findRecipient(s)
	if err != nil {
		return sent, err
	}
	var c *rpcClient
	method := "turn/start"
	if to.socket != "" {
		c, err = to.ask(ctx)
	} else {
		c, err = startQueueServer(ctx, s, host)
		method = "thread/queue/add"
	}
	if err == nil {
		defer c.Hangup()
		_, err = c.Call(method, map[string]any{
			"threadId": s.ID, "clientUserMessageId": sent.ID,
			"input": []any{map[string]string{"type": "text", "text": text}},
		})
	}
	if err != nil && ctx.Err() != nil {
		err = ctx.Err() // the connection ends with it
	}
	return sent, err
}

// startQueueServer starts an app-server that can write the queue of the session's home. It ends with the connection. `codex queue` does
// the same, but takes the text from its command line, which others can read, and does not say which ID the message gets.
func startQueueServer(ctx context.Context, s discover.Session, host launch.Environment) (*rpcClient, error) {
	program, err := queueProgram(host)
	if err != nil {
		return nil, err
	}
	server, err := host.StartStdioServer(ctx, s.Home, slices.Concat(program.env, homeEnv(s, host)), program.path, "app-server")
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(server.Stdout)
	lines.Buffer(nil, maxMessage)
	return initialize(stdioServer{server, lines})
}

// IsSent implements [launch.Adapter]. Codex stores the ID that the client has given its message (SEEN 0.149-0.169).
func (Adapter) IsSent(m discover.Message, sent launch.SentMessage) bool {
	return m.Role == discover.RoleUser && sent.ID != "" && m.SentID == sent.ID
}

// Refusal implements [launch.Adapter]. A turn that is interrupted loses the messages that it was to read (SEEN 0.169), but those in
// the queue stay there. The transcript does not say which of them were lost.
func (Adapter) Refusal(m discover.Message, _ launch.SentMessage) (text string, dropped bool) {
	if m.Kind != discover.KindInterruption {
		return "", false
	}
	return "a turn was interrupted meanwhile, and what it had not read may be lost", false
}
