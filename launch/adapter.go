package launch

import (
	"context"
	"fmt"
	"syscall"

	"agentctl/discover"
	"agentctl/proc"
)

// Adapter is everything that the program knows of one agent: how its sessions are read, and how they are started, ended and given
// messages. An adapter embeds [Defaults], which has all methods below the first group. Those that start or send something say so; all
// others only read. Errors of an agent that cannot do something are [*UnsupportedError]s, those of one that is missing
// [*NotInstalledError]s.
type Adapter interface {
	discover.Adapter
	// Spec returns how the agent is started for the request.
	Spec(Request, Environment) (Spec, error)
	// ParseOutput parses what the agent's process has printed.
	ParseOutput(Output) ParsedOutput
	// ScrubbedEnv returns the environment variables by which the agent marks the processes that it starts. A * at the end matches
	// any rest of the name. The user's settings are not among them.
	ScrubbedEnv() []string

	// Hint tells the user, in one line, what may surprise, where only the session that has begun shows how the request was carried out;
	// "" if nothing does, or if the session does not show it.
	Hint(r Request, begun discover.Session) string
	// ModelFamilies are the families of models with short names, for worktrees and branches.
	ModelFamilies() []string

	// StopSignals are the signals that ask a process of the agent to end, the gentlest first. Each is given its share of the
	// time before the next.
	StopSignals() []syscall.Signal
	// NeedsInterrupt reports whether the session has to be ended in the agent's own way, by Interrupt.
	NeedsInterrupt(s discover.Session) bool
	// Interrupt ends the session in the agent's own way, where signalling its process would be wrong: a process that serves
	// several sessions, or one that is started again when it dies. s.Shared is set if its processes serve other sessions that
	// are not to be stopped. Interrupt returns once the agent has accepted the request. accepted is false if there is no such
	// way for this session, or none is needed. The error says why the agent did not accept it.
	Interrupt(ctx context.Context, s discover.Session, host Environment) (accepted bool, err error)
	// FindClients returns the processes that show the session to a user while a server runs it, and those that show either this
	// session or another one. The error says why they cannot be found.
	FindClients(ctx context.Context, s discover.Session, host Environment) (sure, possible []proc.Process, err error)
	// Unload asks the server to close a session that is in no turn and that no client shows. unloads is false if it goes on
	// holding the session; that is no error.
	Unload(ctx context.Context, s discover.Session, host Environment) (unloads bool, err error)

	// CheckSend says why a session takes no message now, and what the user can do; nil if the session takes one.
	CheckSend(s discover.Session, host Environment) error
	// Send hands the text to the live session by the agent's own channel, and returns once the agent has accepted it.
	// s.Processes are those that may be sent something: their identity and reachability were checked just now. An error says
	// that the agent has not accepted the text.
	Send(ctx context.Context, s discover.Session, text string, host Environment) (SentMessage, error)
	// IsSent reports whether a stored message is the one that was sent, as the agent records it: it may wrap the text.
	IsSent(m discover.Message, sent SentMessage) bool
	// Refusal returns what the agent says about the sent message, in its own words, if the stored message is such a notice; else
	// "". dropped: the session will never get it; else the agent holds it, until its user approves it, say.
	Refusal(m discover.Message, sent SentMessage) (text string, dropped bool)
	// Unread returns why the model may not get the sent message, which the transcript has; "" if it has got it, or gets it in the turn in
	// progress. s is the session as it is now.
	Unread(ctx context.Context, s discover.Session, sent SentMessage) (why string, err error)

	// OpenRequests returns the requests of a live session and its sub-agents to the user that have no answer yet, the oldest first. It asks the
	// process of the session; s.Processes are those of [Adapter.Send].
	OpenRequests(ctx context.Context, s discover.Session, host Environment) ([]OpenRequest, error)
	// Answer gives the user's answer to that very request, and returns once the agent has accepted it. Error: [ErrAnswered] if the request is not
	// open any more.
	Answer(ctx context.Context, s discover.Session, r OpenRequest, reply Reply, host Environment) error

	// StoreCommand returns the agent's command for a stopped session of a home that is ours. The error of an agent without one names the
	// agent's own way.
	StoreCommand(StoreAction, discover.Session, Environment) (Command, error)
	// AttachCommand returns the command of the agent's client that shows in a terminal a live session of a home that is ours, whose
	// processes may be sent requests. ok is false if no background service runs the session. It sends nothing to the service except to
	// find out who listens. The error of an agent whose client cannot reach the service says why.
	AttachCommand(context.Context, discover.Session, Environment) (command Command, ok bool, err error)
}

// Defaults has the methods of [Adapter] that not every agent needs.
type Defaults struct {
	discover.Defaults
	actionDefaults
}

// AdapterOf returns the adapter of an agent. One that only reads, or is not known, can start nothing.
func AdapterOf(adapters []discover.Adapter, agent discover.Agent) Adapter {
	a := discover.AdapterOf(adapters, agent)
	if full, ok := a.(Adapter); ok {
		return full
	}
	return reader{Adapter: a}
}

// reader is an adapter that only reads.
type reader struct {
	discover.Adapter
	actionDefaults
}

func (r reader) Spec(Request, Environment) (Spec, error) {
	return Spec{}, &UnsupportedError{Agent: r.Name(), What: "cannot be launched"}
}

func (reader) ParseOutput(Output) ParsedOutput { return ParsedOutput{} }

func (reader) ScrubbedEnv() []string { return nil }

// actionDefaults are the methods of [Defaults] beside those for reading.
type actionDefaults struct{}

func (actionDefaults) Hint(Request, discover.Session) string { return "" }

func (actionDefaults) ModelFamilies() []string { return nil }

func (actionDefaults) StopSignals() []syscall.Signal { return []syscall.Signal{syscall.SIGTERM} }

func (actionDefaults) NeedsInterrupt(discover.Session) bool { return false }

func (actionDefaults) Interrupt(context.Context, discover.Session, Environment) (bool, error) {
	return false, nil
}

// FindClients returns those that claims name.
func (actionDefaults) FindClients(_ context.Context, s discover.Session, _ Environment) (sure, possible []proc.Process, err error) {
	return s.Clients, s.PossibleClients(), nil
}

// Unload has no way: servers keep their sessions.
func (actionDefaults) Unload(context.Context, discover.Session, Environment) (bool, error) {
	return false, nil
}

func (actionDefaults) CheckSend(s discover.Session, _ Environment) error {
	return &UnsupportedError{Agent: s.Agent, What: "has no way to take a message that agentctl knows of"}
}

// Send does nothing: CheckSend has refused.
func (d actionDefaults) Send(_ context.Context, s discover.Session, _ string, host Environment) (SentMessage, error) {
	return SentMessage{}, d.CheckSend(s, host)
}

func (actionDefaults) IsSent(discover.Message, SentMessage) bool { return false }

func (actionDefaults) Refusal(discover.Message, SentMessage) (string, bool) { return "", false }

// Unread is for agents that store no message before the model gets it.
func (actionDefaults) Unread(context.Context, discover.Session, SentMessage) (string, error) {
	return "", nil
}

func (actionDefaults) OpenRequests(_ context.Context, s discover.Session, _ Environment) ([]OpenRequest, error) {
	return nil, &UnsupportedError{Agent: s.Agent, What: "takes no answers but in its own terminal"}
}

// Answer does nothing: OpenRequests has refused.
func (d actionDefaults) Answer(ctx context.Context, s discover.Session, _ OpenRequest, _ Reply, host Environment) error {
	_, err := d.OpenRequests(ctx, s, host)
	return err
}

func (actionDefaults) StoreCommand(action StoreAction, s discover.Session, _ Environment) (Command, error) {
	return Command{}, &UnsupportedError{Agent: s.Agent, What: fmt.Sprintf("is not known to have a command for %s", action)}
}

// AttachCommand knows of no background service.
func (actionDefaults) AttachCommand(context.Context, discover.Session, Environment) (Command, bool, error) {
	return Command{}, false, nil
}
