package opencode

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/proc"
)

// CheckSend implements [launch.Sender]. A session takes messages from the HTTP server of the process that runs it: `serve`, `web`, `acp`, or
// a terminal interface that listens. A headless run does not listen.
func (Adapter) CheckSend(s discover.Session, _ launch.Environment) error {
	switch {
	case len(s.Processes) == 0:
		return unsupported("runs this session in no process that can be sent something")
	case s.Source == modeRun.source():
		return unsupported("takes no messages in a headless run; wait for its end, and use: agentctl resume " + s.ID + " TEXT")
	case s.Status != discover.Idle && runsElsewhere(s):
		return unsupported("runs this session in several processes; which of them would read the message is not known until its turn has ended")
	}
	_, err := listening(s)
	return err
}

// runsElsewhere reports whether several processes run the session. The processes that may not be sent anything count too.
func runsElsewhere(s discover.Session) bool {
	return slices.ContainsFunc(s.Evidence, func(e discover.Evidence) bool {
		return e.Accepted && e.Session == s.ID && e.Process != s.Processes[0].ID
	})
}

// listening returns the processes of the session that listen.
func listening(s discover.Session) (listeners []listener, err error) {
	for _, p := range s.Processes {
		ports, err := p.ListenPorts()
		if err != nil {
			return nil, unsupported("takes messages only where it listens, and the ports of " + p.ID.String() + " cannot be read: " + reason(err))
		}
		if len(ports) > 0 {
			listeners = append(listeners, listener{p, ports})
		}
	}
	if len(listeners) == 0 {
		return nil, unsupported("takes messages only where it listens, which this terminal does not; end it, and start: opencode --port 0 --session " + s.ID)
	}
	return listeners, nil
}

// listener is a process that listens.
type listener struct {
	proc.Process
	ports []int
}

// Send implements [launch.Sender]. The server answers before it has stored the message, and also if it never will, as for an agent that is not
// configured any more. While a turn is in progress, it stores the message at once, and gives it to the model with the next call, or leaves it
// to the next prompt ([isUnread]). While the session waits for the user, the permission or question stays open (SEEN 1.18.33).
func (Adapter) Send(ctx context.Context, s discover.Session, text string, host launch.Environment) (launch.SentMessage, error) {
	listeners, err := listening(s)
	if err != nil {
		return launch.SentMessage{}, err
	}
	m := launch.SentMessage{Text: text, ID: newPartID(time.Now())}
	r := request{path: sessionPath(s, "prompt_async"), body: promptBody(s, m), accept: 204, refuse: "take the message"}
	for _, l := range listeners {
		var accepted bool
		if accepted, err = r.ask(ctx, l.Process, l.ports, host); accepted {
			return m, nil
		}
	}
	return launch.SentMessage{}, errors.Join(ctx.Err(), err)
}

// IsSent implements [launch.Sender]. The agent keeps the ID of the message's only part (SEEN 1.18.33).
func (Adapter) IsSent(m discover.Message, sent launch.SentMessage) bool {
	return m.ID == sent.ID && m.Role == discover.RoleUser
}

// Unread implements [launch.UnreadReader].
func (Adapter) Unread(ctx context.Context, s discover.Session, sent launch.SentMessage) (why string, err error) {
	inTurn := s.Status == discover.Running || s.Status == discover.Waiting
	unread, err := readDatabase(ctx, s.Home, s.Path, func(d *database) bool { return isUnread(d.messages(s.ID), sent.ID, inTurn) })
	if !unread {
		return "", err
	}
	return "the transcript has it, and the model has not been asked. If a turn was just ending, the agent leaves it to the next prompt", nil
}

// prompt is the body of a request that sends a message. Without an agent, the server takes the default one; without a model, that of the
// agent's configuration, else the session's last one; without a variant, the default one (SEEN 1.18.33).
type prompt struct {
	Agent   string       `json:"agent,omitempty"`
	Model   *promptModel `json:"model,omitempty"`
	Variant string       `json:"variant,omitempty"`
	Parts   []promptPart `json:"parts"`
}

type promptModel struct {
	Provider string `json:"providerID"`
	Model    string `json:"modelID"`
}

type promptPart struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Text string `json:"text"`
}

// promptBody returns the request's JSON: the text, for the agent, model and variant of the session's last message.
func promptBody(s discover.Session, m launch.SentMessage) []byte {
	p := prompt{Parts: []promptPart{{ID: m.ID, Type: "text", Text: m.Text}}}
	p.Agent, _ = s.Meta.Get("agent").(string)
	if provider, model, ok := strings.Cut(s.Model, "/"); ok {
		p.Model = &promptModel{provider, model}
		p.Variant, _ = s.Meta.Get("variant").(string)
	}
	body, _ := json.Marshal(p) // strings only: it does not fail
	return body
}

// newPartID makes an ID for a part, as the agent does: the time, and random letters and digits. The agent overwrites the stored part that has
// the ID of a new one (SEEN 1.18.33).
func newPartID(at time.Time) string {
	return fmt.Sprintf("%s%012x%s", partPrefix, idTime(at), rand.Text()[:idLength-len(partPrefix)-12])
}
