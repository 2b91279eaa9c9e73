package launch

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/watch"
	"agentctl/lock"
)

// OpenRequest is a request of an agent to its user that has no answer yet, in the agent's own words. Its texts are raw.
type OpenRequest struct {
	// ID is the agent's own ID of the request, Call that of the tool call that it is about, as in [discover.WaitingOn].
	ID, Call string
	// Tool is the name of the tool, or of the permission.
	Tool string
	// Text is the whole of what is to be allowed: the command, the diff; "" where only the transcript has it.
	Text string
	// Reason is why the model asks for it, and Dir where a command would run; "" where the agent does not say.
	Reason, Dir string
	// Questions are those to the user; none for a request for permission.
	Questions []Question
	// Always says what the answer always allows, until when, and where the agent keeps that; "" if the agent offers no such answer.
	Always string
	// Guard is a directory whose kernel lock keeps answers of several commands apart; "" for an agent that does so itself.
	Guard string
	// No says what the answer no does beside refusing the call; "" for nothing.
	No string
}

// Question is a question to the user. It is identified by its place in [OpenRequest.Questions].
type Question struct {
	ID, Header, Text string
	Choices          []Choice
	// Multiple: several choices may be taken. FreeText: a text that is none of the choices may be given.
	Multiple, FreeText bool
}

// Choice is a choice of a question.
type Choice struct{ Label, Description string }

// ReplyKind is a kind of answer.
type ReplyKind string

// The kinds of answers.
const (
	// ReplyYes allows this call, ReplyAlways also those of [OpenRequest.Always], ReplyNo refuses it.
	ReplyYes    ReplyKind = "yes"
	ReplyAlways ReplyKind = "always"
	ReplyNo     ReplyKind = "no"
	// ReplyText answers the questions.
	ReplyText ReplyKind = "text"
)

// Reply is the user's answer to a request.
type Reply struct {
	Kind ReplyKind
	// Reason is what the model is told with a ReplyNo; "" for nothing.
	Reason string
	// Answers has an answer for each question: the labels of the choices, or the user's own text, alone.
	Answers [][]string
}

// ErrAnswered: the request is not open any more, so that it was not answered by this command.
var ErrAnswered = errors.New("the request is not open any more: it was answered elsewhere, or its turn has ended")

// ErrSeveral: several requests are open, and none was named.
var ErrSeveral = errors.New("several requests are open: name one of them by --request")

// FindRequests reads a chosen session again and asks its agent which requests are open. The session is refused as by [SendMessage]. Errors: a
// [*StoppedError], an [*UnclearError], a [*discover.UntrustedError], [ErrUnreachable], or an [*UnsupportedError] of an agent that takes no answers
// for this session.
func FindRequests(ctx context.Context, scanner *discover.Scanner, chosen discover.Session, host Environment) (discover.Session, []OpenRequest, error) {
	s, err := findRecipient(ctx, scanner, chosen, "answer", "takes the answer to a sub-agent's request in the session that it works for; answer %s")
	if err != nil {
		return s, nil, err
	}
	limited, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	requests, err := AdapterOf(scanner.Adapters, s.Agent).OpenRequests(limited, s, host)
	return s, requests, err
}

// Answered is what became of an answer that an agent has accepted.
type Answered string

// The results of an answer.
const (
	// WentOn: the session does not wait for the request any more, and nothing it has stored contradicts the answer.
	WentOn Answered = "answered"
	// NotSeen: the agent has accepted the answer, and the session has not been seen to go on.
	NotSeen Answered = "accepted"
	// Contradicted: the session has gone on with another answer: somebody else answered at the same time.
	Contradicted Answered = "contradicted"
	// Ended: the session has ended before it was seen to go on.
	Ended Answered = "ended"
)

// GiveAnswer answers a request of [FindRequests] and follows the session until it goes on, or timeout is over. An error says that the agent was not
// asked, or has not accepted the answer: [ErrAnswered], an [*UnsupportedError], a [*RejectedError], or ctx's.
func GiveAnswer(
	ctx context.Context, scanner *discover.Scanner, s discover.Session, r OpenRequest, reply Reply, host Environment, timeout time.Duration,
) (Answered, discover.Session, error) {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if r.Guard != "" {
		held, err := lock.FlockDir(limited, r.Guard)
		if err != nil {
			return "", s, err
		}
		defer held.Release()
	}
	err := AdapterOf(scanner.Adapters, s.Agent).Answer(limited, s, r, reply, host)
	_, unable := errors.AsType[*UnsupportedError](err)
	switch {
	case err == nil:
	case errors.Is(limited.Err(), context.Canceled):
		return "", s, limited.Err()
	case unable, errors.Is(err, ErrAnswered):
		return "", s, err
	default:
		return "", s, &RejectedError{err}
	}
	result, now := followAnswer(limited, scanner, s, r, reply, host)
	return result, now, nil
}

// followAnswer follows the session until it goes on, or ctx ends.
func followAnswer(ctx context.Context, scanner *discover.Scanner, s discover.Session, r OpenRequest, reply Reply, host Environment) (Answered, discover.Session) {
	watcher := watch.NewWatcher(scanner, []discover.Session{s})
	defer watcher.Close()
	processes := s.Processes
	for {
		next, err := watcher.Next(ctx)
		if err != nil {
			return NotSeen, s
		}
		s = next.Sessions[0]
		result := judgeAnswer(s, r, reply, FindCall(ctx, scanner, s, r.Call))
		if result == NotSeen && s.Status == discover.Waiting { // one call may need two permissions
			asked := s
			asked.Processes = processes
			now, err := AdapterOf(scanner.Adapters, s.Agent).OpenRequests(ctx, asked, host)
			if err == nil && len(now) > 0 && !slices.ContainsFunc(now, func(o OpenRequest) bool { return o.ID == r.ID }) {
				result = WentOn
			}
		}
		if result != NotSeen {
			return result, s
		}
	}
}

// judgeAnswer compares the session as it is now, and the call that the request was about, with the answer. call is nil if the transcript does not
// show it.
func judgeAnswer(s discover.Session, r OpenRequest, reply Reply, call *discover.ToolCall) Answered {
	state := discover.ToolState("")
	if call != nil {
		state = call.State
	}
	waits := s.Status == discover.Waiting && (s.WaitingOn == nil || s.WaitingOn.ID == r.Call)
	switch state {
	case discover.ToolRefused:
		if reply.Kind != ReplyNo {
			return Contradicted
		}
		return WentOn
	case discover.ToolDone, discover.ToolFailed:
		if reply.Kind == ReplyNo || !reply.isIn(call.Output) {
			return Contradicted
		}
		return WentOn
	}
	switch {
	case s.Status == discover.Stopped:
		return Ended
	case waits, reply.Kind == ReplyNo && state == discover.ToolRunning: // its refusal is stored in a moment
		return NotSeen
	}
	return WentOn
}

// isIn reports whether the result of a question's call may have the answers: agents put them there, as JSON or between quotes.
func (r Reply) isIn(output string) bool {
	for _, answers := range r.Answers {
		for _, a := range answers {
			if plain := !strings.ContainsAny(a, "\"\\\n\t<>&"); plain && !strings.Contains(output, a) {
				return false
			}
		}
	}
	return true
}

// FindCall returns the newest call with an ID in the transcript of a session; nil if it is not among the newest messages, as that of a sub-agent.
func FindCall(ctx context.Context, scanner *discover.Scanner, s discover.Session, id string) *discover.ToolCall {
	if id == "" {
		return nil
	}
	n := 0
	for m, err := range scanner.Messages(ctx, s) {
		if n++; err != nil || n > maxNewMessages {
			return nil
		}
		if m.Tool != nil && m.Tool.ID == id {
			return m.Tool
		}
	}
	return nil
}

// Pick returns the request that an ID means: its own, or that of its call. Without an ID, there must be only one.
func Pick(requests []OpenRequest, id string) (OpenRequest, error) {
	if id == "" && len(requests) == 1 {
		return requests[0], nil
	}
	if i := slices.IndexFunc(requests, func(r OpenRequest) bool { return id != "" && (r.ID == id || r.Call == id) }); i >= 0 {
		return requests[i], nil
	}
	if id != "" || len(requests) == 0 {
		return OpenRequest{}, ErrAnswered
	}
	return OpenRequest{}, ErrSeveral
}
