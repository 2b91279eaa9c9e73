package launch

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"agentctl/discover"
)

// AgentFailedError says that the agent ended before its session was proven, or with an error while it was.
type AgentFailedError struct {
	Agent discover.Agent
	Exit  ExitStatus
	// Message is the agent's own words, "" if it printed none.
	Message string
	// Session is the session as far as it is in storage; nil if it is not.
	Session *discover.Session
}

func (e *AgentFailedError) Error() string {
	what := fmt.Sprintf("%s failed (%s)", e.Agent, e.Exit)
	switch {
	case e.Exit == ExitStatus{} && e.Session == nil:
		what = fmt.Sprintf("%s ended without a session", e.Agent)
	case e.Exit == ExitStatus{}: // as if nothing had been wrong
		what = fmt.Sprintf("%s failed", e.Agent)
	}
	return what + ": " + cmp.Or(e.Message, "it did not say why")
}

// Failure returns an [*AgentFailedError] if the process has ended and the agent has failed, nil otherwise.
func (v *Verification) Failure(ctx context.Context) error {
	if !v.execution.HasEnded() {
		return nil
	}
	_, err := v.exitFailure(ctx)
	return err
}

// exitFailure returns the session of a process that has ended, nil if there is none in storage, and an [*AgentFailedError] if
// the agent has failed.
func (v *Verification) exitFailure(ctx context.Context) (*discover.Session, error) {
	said := v.plan.Agent.ParseOutput(v.execution.readOutput())
	s, ok := v.findByID(ctx, cmp.Or(v.plan.Spec.ID, said.ID, v.Session.ID))
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var stored *discover.Session
	if ok {
		stored = &s
	}
	// An agent may say that it failed and end as if it had not (OpenCode 1.1.65), and what it said may be lost.
	failed := v.execution.ExitStatus() != ExitStatus{} || said.Error != "" || !ok || v.plan.Spec.Resumed && !v.turnStored(ctx, s) ||
		s.Turn.State == discover.TurnFailed || s.Turn.Unanswered
	if !failed {
		return stored, nil
	}
	e := &AgentFailedError{Agent: v.plan.Agent.Name(), Exit: v.execution.ExitStatus(), Message: said.Error, Session: stored}
	if ok && v.turnStored(ctx, s) {
		// What the agent stored as its turn's error beats what else it printed: warnings, of a model's age say.
		e.Message = cmp.Or(e.Message, s.Error)
	}
	e.Message = cmp.Or(e.Message, outputTail(v.execution.readOutput()))
	return stored, e
}

// outputTail returns the end of what a process printed, of stderr if there is anything.
func outputTail(o Output) string {
	const most = 1000
	text := strings.TrimSpace(string(o.Stderr))
	if text == "" {
		text = strings.TrimSpace(string(o.Stdout))
	}
	if len(text) > most {
		text = "…" + text[len(text)-most:]
	}
	return text
}
