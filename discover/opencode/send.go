package opencode

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/proc"
)

// CheckSend implements [launch.Adapter].
func (Adapter) CheckSend(s discover.Session, _ launch.Environment) error {
	_, err := receivers(s)
	return err
}

// receivers returns the processes that take messages for a session, by HTTP: `serve`, `web`, `acp`, or a terminal interface that listens. A
// headless run does not listen.
func receivers(s discover.Session) ([]listener, error) {
	// The processes that may not be sent anything count too.
	runsElsewhere := func(e discover.Evidence) bool {
		return e.Accepted && e.Session == s.ID && e.Process != s.Processes[0].ID
	}
	switch {
	case isV2(s):
		return nil, unsupported("2 takes a message during a turn only from a client that waits for its end, which was not tried on the program; " +
			"wait for the end, and use: agentctl resume " + s.ID + " TEXT")
	case len(s.Processes) == 0:
		return nil, unsupported("has no process for this session that takes messages")
	case s.Source == modeRun:
		return nil, unsupported("takes no messages in a headless run; wait for its end, and use: agentctl resume " + s.ID + " TEXT")
	case s.Status != discover.Idle && slices.ContainsFunc(s.Evidence, runsElsewhere):
		return nil, unsupported("runs this session in several processes; which of them would read the message is not known until its turn has ended")
	}
	found, err := listeners(s)
	if err == nil && len(found) == 0 {
		err = unsupported("takes messages only on a port, and this terminal listens on none; end it, and start: opencode --port 0 --session " + s.ID)
	}
	return found, err
}

// Send implements [launch.Adapter]. The server answers before it has stored the message, and also if it never will, as for an agent that is not
// configured any more. While a turn is in progress, it stores the message at once, and gives it to the model with the next call, or leaves it
// to the next prompt ([isUnread]). While the session waits for the user, the permission or question stays open (SEEN 1.18.33).
func (Adapter) Send(ctx context.Context, s discover.Session, text string, host launch.Environment) (launch.SentMessage, error) {
	servers, err := receivers(s)
	if err != nil {
		return launch.SentMessage{}, err
	}
	m := launch.SentMessage{Text: text, ID: newPartID(time.Now())}
	r := request{path: sessionPath(s, "prompt_async"), body: promptBody(s, m), accept: 204, refuse: "take the message"}
	if accepted, err := r.ask(ctx, host, servers...); !accepted {
		return launch.SentMessage{}, errors.Join(ctx.Err(), err)
	}
	return m, nil
}

// IsSent implements [launch.Adapter]. The agent keeps the ID of the message's only part (SEEN 1.18.33).
func (Adapter) IsSent(m discover.Message, sent launch.SentMessage) bool {
	return m.ID == sent.ID && m.Role == discover.RoleUser
}

// Unread implements [launch.Adapter].
func (Adapter) Unread(ctx context.Context, s discover.Session, sent launch.SentMessage) (why string, err error) {
	inTurn := s.Status == discover.Running || s.Status == discover.Waiting
	unread, err := readDatabase(ctx, s.Home, s.Path, func(d *database) bool { return isUnread(d.messages(s.ID), sent.ID, inTurn) })
	if !unread {
		return "", err
	}
	return "the transcript has it, and the model has not been asked. If a turn was just ending, the agent leaves it to the next prompt", nil
}

// promptBody returns the JSON of a request that sends a message: the text, for the agent, model and variant of the session's last message. Without
// an agent, the server takes the default one; without a model, that of the agent's configuration, else the session's last one; without a variant,
// the default one (SEEN 1.18.33).
func promptBody(s discover.Session, m launch.SentMessage) []byte {
	p := discover.Facts{"agent": s.Meta["agent"], "parts": []map[string]string{{"id": m.ID, "type": "text", "text": m.Text}}}
	if provider, model, ok := strings.Cut(s.Model, "/"); ok {
		p["model"], p["variant"] = map[string]string{"providerID": provider, "modelID": model}, s.Meta["variant"]
	}
	body, _ := json.Marshal(p.WithoutEmpty()) // strings only: it does not fail
	return body
}

// newPartID makes an ID for a part, as the agent does: the time, and random letters and digits. The agent overwrites the stored part that has
// the ID of a new one (SEEN 1.18.33).
func newPartID(at time.Time) string {
	return fmt.Sprintf("%s%012x%s", partPrefix, idTime(at), rand.Text()[:idLength-len(partPrefix)-12])
}

// StopSignals implements [launch.Adapter]. At SIGTERM, the terminal interface aborts its turns, ends their tools and exits. `run` and
// servers die of it without doing that (SEEN 1.18.33). If a tool runs, the terminal interface of 1.14.41 needs a second one (SEEN).
func (Adapter) StopSignals() []syscall.Signal {
	return []syscall.Signal{syscall.SIGTERM, syscall.SIGTERM}
}

// NeedsInterrupt implements [launch.Adapter]. A process that may run several sessions must be asked if it listens, or if its ports cannot
// be read.
func (Adapter) NeedsInterrupt(s discover.Session) bool {
	if !s.Shared {
		return false
	}
	if isV2(s) { // of other servers than the service, nothing but their end is known
		return slices.ContainsFunc(s.Processes, func(p proc.Process) bool { return isRegistered(context.Background(), p) })
	}
	found, err := listeners(s)
	return len(found) > 0 || err != nil
}

// Interrupt implements [launch.Adapter]. It asks a server, or a terminal interface that listens, over HTTP to abort the session's turn. The
// answer comes after the turn's tools have ended. The process and its other sessions continue (SEEN 1.18.33). A session without a turn
// in progress needs no request.
func (Adapter) Interrupt(ctx context.Context, s discover.Session, host launch.Environment) (accepted bool, err error) {
	if isV2(s) {
		return interruptV2(ctx, s, host)
	}
	found, _ := listeners(s)
	if !s.Shared || len(found) == 0 || s.Status == discover.Idle {
		return s.Shared && len(found) > 0, nil
	}
	return request{path: sessionPath(s, "abort"), accept: 200, refuse: "abort the turn"}.ask(ctx, host, found...)
}

// StoreCommand implements [launch.Adapter]. `opencode session delete` also removes the session's sub-agents, from any
// directory (SEEN 1.18.33).
func (Adapter) StoreCommand(action launch.StoreAction, s discover.Session, host launch.Environment) (launch.Command, error) {
	switch {
	case action != launch.ActionRemove:
		return launch.Command{}, unsupported("has no command that archives or restores a session; only the API of its server has (PATCH /session/ID)")
	case s.Meta["legacy"] == true:
		return launch.Command{}, unsupported("has no command that deletes a session in JSON files of older versions")
	}
	if isV2(s) {
		return removeV2(s, host)
	}
	p, err := installationFor(s, host)
	if err != nil {
		return launch.Command{}, err
	}
	return launch.Command{
		Args: []string{p.path, "session", "delete", s.ID}, Env: storeEnv(&s, host), Dir: s.Home,
		Help: []string{p.path, "session", "delete", "--help"}, HelpHas: "opencode session delete ",
	}, nil
}
