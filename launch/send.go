package launch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"agentctl/discover"
	"agentctl/discover/watch"
	"agentctl/proc"
)

// SentMessage is a message that an agent has accepted.
type SentMessage struct {
	Text string
	// ID identifies the message in the agent's transcript, where the agent keeps one from the request or answers with one. If
	// it is "", a message with the same text that is recorded after the send began counts: two senders of one text at the same
	// time cannot be told apart then.
	ID string
}

// Delivery is what became of a message.
type Delivery string

// The deliveries.
const (
	// Delivered: the transcript of the session has it, and the model has got it or gets it in the turn in progress.
	Delivered Delivery = "delivered"
	// Accepted: the agent has accepted it, and has not delivered it yet.
	Accepted Delivery = "accepted"
	// Lost: the session has ended before it was delivered.
	Lost Delivery = "lost"
	// Dropped: the agent says that the session will never get it.
	Dropped Delivery = "dropped"
	// DeliveryUnknown: whether the transcript has it could not be read.
	DeliveryUnknown Delivery = "unknown"
)

// SendResult is what became of a message that an agent has accepted.
type SendResult struct {
	Delivery Delivery
	// Session is the session as it is now.
	Session discover.Session
	// Message is the message as the transcript has it; nil unless Delivery is Delivered.
	Message *discover.Message
	// Refusal is what is known of a message that is not delivered: what the agent says of it, in its own words, or what its storage shows;
	// "" if nothing.
	Refusal string
	// Err is why Delivery is DeliveryUnknown.
	Err error
}

// StoppedError says that no process runs the session.
type StoppedError struct{ Session discover.Session }

func (e *StoppedError) Error() string { return "it is stopped" }

// UnclearError says that it is not sure which process runs the session.
type UnclearError struct {
	Session discover.Session
	// candidates names the processes that may run it.
	candidates string
}

func (e *UnclearError) Error() string {
	if e.Session.ID == "" {
		return "its session is not known: the agent gives it an ID at its first prompt"
	}
	return "it is not sure which process runs it" + e.candidates
}

// RejectedError says that the agent has not accepted the message, or has not said so in time. It may have received it.
type RejectedError struct{ Err error }

func (e *RejectedError) Error() string {
	if errors.Is(e.Err, context.DeadlineExceeded) {
		return "the agent has not answered in time: whether it has the message is not known"
	}
	return fmt.Sprintf("the agent has not accepted the message: %v", e.Err)
}

func (e *RejectedError) Unwrap() error { return e.Err }

// maxMessageSize bounds a message in bytes. Adapters refuse what is more than their agent takes.
const maxMessageSize = 1 << 20

// CheckMessage returns a text as it can be sent: without newlines at its end. It must be UTF-8, not blank, at most 1 MiB, and without
// control characters other than newline and tab, because agents show it on a terminal.
func CheckMessage(text string) (string, error) {
	text = strings.TrimRight(text, "\r\n")
	if strings.TrimSpace(text) == "" {
		return "", errors.New("the message is empty")
	}
	if len(text) > maxMessageSize {
		return "", fmt.Errorf("the message has %d bytes, more than 1 MiB: put it into a file, and send the file's name", len(text))
	}
	for i, r := range text {
		if r == utf8.RuneError && !strings.HasPrefix(text[i:], string(utf8.RuneError)) {
			return "", fmt.Errorf("the message is not UTF-8 text at offset %d", i)
		}
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return "", fmt.Errorf("the message has the control character %U at offset %d: only newlines and tabs can be sent", r, i)
		}
	}
	return text, nil
}

// SendMessage sends a message, a text of [CheckMessage], to a chosen session. Nothing is ever typed into a terminal. The session is
// read again, found by its identity, and refused before anything is sent if it is stopped, if it is not sure which process runs it,
// or if nothing may be sent to that process. Then the agent has to accept the message, and the session is followed until its
// transcript has it, or timeout is over: only then is it delivered.
//
// An error says that the message was not sent, or that the agent has not accepted it: a [*StoppedError], an [*UnclearError], a
// [*discover.UntrustedError], [ErrUnreachable], an [*UnsupportedError], a [*RejectedError], or ctx's. If ctx ends after the agent has
// accepted the message, the result says what is true then.
func SendMessage(
	ctx context.Context, scanner *discover.Scanner, chosen discover.Session, text string, host Environment, timeout time.Duration,
) (SendResult, error) {
	session, err := findRecipient(ctx, scanner, chosen, "send", "gives a sub-agent's session no messages; send it to %s")
	if err != nil {
		return SendResult{}, err
	}
	sender := AdapterOf(scanner.Adapters, session.Agent)
	if err := sender.CheckSend(session, host); err != nil {
		return SendResult{}, err
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	began := time.Now().Truncate(time.Millisecond)
	sent, err := sender.Send(limited, session, text, host)
	_, unable := errors.AsType[*UnsupportedError](err)
	switch {
	case err != nil && errors.Is(limited.Err(), context.Canceled):
		return SendResult{}, limited.Err()
	case unable:
		return SendResult{}, err
	case err != nil:
		return SendResult{}, &RejectedError{err}
	}
	d := &delivery{scanner: scanner, sender: sender, began: began, sent: sent, SendResult: SendResult{Delivery: Accepted, Session: session}}
	d.follow(limited)
	return d.SendResult, nil
}

// findRecipient reads the chosen session again, since it may have ended or moved to another process, and returns it with the processes
// that something may be sent to. Weak evidence is not enough: what was sent to another session cannot be taken back. action is what is to be done;
// subagent says why it is not done to a sub-agent, with %s for the session that it works for.
func findRecipient(ctx context.Context, scanner *discover.Scanner, chosen discover.Session, action, subagent string) (discover.Session, error) {
	s, known := Reread(ctx, scanner, chosen)
	switch {
	case ctx.Err() != nil:
		return s, ctx.Err()
	case !known:
		return s, unclear(s)
	case s.Status == discover.Stopped:
		return s, &StoppedError{s}
	case s.ID == "":
		return s, unclear(s)
	case s.IsSubagent():
		return s, &UnsupportedError{Agent: s.Agent, What: fmt.Sprintf(subagent, s.Parent)}
	}
	s, err := Reachable(scanner, s, action)
	if err != nil {
		return s, err
	}
	sure := slices.DeleteFunc(slices.Clone(s.Processes), func(p proc.Process) bool {
		return !slices.ContainsFunc(s.Evidence, func(e discover.Evidence) bool {
			return e.Accepted && e.Process == p.ID && e.Session == s.ID && e.Strength >= discover.Strong
		})
	})
	if len(sure) == 0 {
		return s, unclear(s)
	}
	s.Processes = sure
	return s, nil
}

func unclear(s discover.Session) error { return &UnclearError{s, DescribeCandidates(s)} }

// DescribeCandidates names the live processes that may run a session, to follow what is not known of it; "" if there are none.
func DescribeCandidates(s discover.Session) string {
	var names []string
	for _, e := range s.Evidence {
		now, err := proc.Inspect(e.Process.PID)
		if name := e.Process.String(); err == nil && now.ID == e.Process && now.Alive() && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return ": it may be " + strings.Join(names, ", or ")
}

// delivery is a message that the agent has accepted, and what is known of it.
type delivery struct {
	SendResult
	scanner *discover.Scanner
	sender  Adapter
	// began is when the send began. Records have milliseconds.
	began time.Time
	sent  SentMessage
}

// follow follows the session until its transcript has the message, the session has ended, or ctx ends. Then it reads the transcript
// once more: a message that came meanwhile is delivered.
func (d *delivery) follow(ctx context.Context) {
	watcher := watch.NewWatcher(d.scanner, []discover.Session{d.Session})
	defer watcher.Close()
	for {
		r, err := watcher.Next(ctx)
		if err != nil {
			break
		}
		if d.update(ctx, r.Sessions[0]) {
			return
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), finalReadTimeout)
	defer cancel()
	if now, known := Reread(last, d.scanner, d.Session); known {
		d.update(last, now)
	}
}

// update reads the transcript of the session as it is now, and reports whether the delivery is final.
func (d *delivery) update(ctx context.Context, now discover.Session) (final bool) {
	message, refusal, dropped, err := d.find(ctx, now)
	if message != nil {
		if refusal, err = d.sender.Unread(ctx, now, d.sent); refusal != "" || err != nil {
			message = nil
		}
	}
	d.SendResult = SendResult{Session: now, Message: message, Refusal: refusal}
	switch {
	case message != nil:
		d.Delivery = Delivered
		return true
	case err != nil:
		d.Delivery, d.Err = DeliveryUnknown, err
	case dropped:
		d.Delivery = Dropped
		return true
	case now.Status == discover.Stopped:
		d.Delivery = Lost
	default:
		d.Delivery = Accepted
	}
	return now.Status == discover.Stopped
}

// find finds the message in the transcript of the session, or else what the agent says of it. The newest messages come first, but
// agents do not store them in the order of their times.
func (d *delivery) find(ctx context.Context, s discover.Session) (message *discover.Message, refusal string, dropped bool, err error) {
	oldest := d.began.Add(-messageDisorder)
	n := 0
	for m, err := range d.scanner.Messages(ctx, s) {
		n++
		isNew := !m.Time.Before(d.began)
		switch {
		case err != nil:
			return nil, refusal, dropped, err
		case n > maxNewMessages, !m.Time.IsZero() && m.Time.Before(oldest):
			return nil, refusal, dropped, nil
		case (d.sent.ID != "" || isNew) && d.sender.IsSent(m, d.sent):
			return &m, "", false, nil
		case isNew && refusal == "":
			refusal, dropped = d.sender.Refusal(m, d.sent)
		}
	}
	return nil, refusal, dropped, nil
}
