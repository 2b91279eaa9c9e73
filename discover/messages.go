package discover

import (
	"context"
	"fmt"
	"iter"
	"time"
)

// Messages yields the messages of a session, the newest first, as [Adapter] does. It sets the state of calls without a
// result by the session's status. Of a very long transcript it yields the newest part, and a warning.
func (scanner *Scanner) Messages(ctx context.Context, s Session) iter.Seq2[Message, error] {
	return scanner.MessagesWithin(ctx, s, maxMessageBytes)
}

// MessagesWithin is [Scanner.Messages] with a limit of the caller's: the size of the messages in bytes after which older ones are
// left out.
func (scanner *Scanner) MessagesWithin(ctx context.Context, s Session, limit int) iter.Seq2[Message, error] {
	return func(yield func(Message, error) bool) {
		adapter := AdapterOf(scanner.Adapters, s.Agent)
		over := false // the following messages are older than the newest turn
		began := s.openTurnBegan()
		given := 0
		for m, err := range adapter.Messages(confineToSession(ctx, s), *s.Record) {
			if m.Session == "" {
				m.Session = s.ID
			}
			if err == nil && m.Tool != nil && m.Tool.State == ToolOpen {
				call := *m.Tool
				call.State = s.openCall(over)
				m.Tool = &call
			}
			over = over || err == nil && m.endsTurn() && (began.IsZero() || !m.Time.After(began))
			if !yield(m, err) {
				return
			}
			if given += m.Size(); given > limit {
				err := fmt.Errorf("messages before the newest %d MB are left out", limit>>20)
				yield(Message{}, &Warning{Agent: s.Agent, Path: s.Path, Err: err})
				return
			}
		}
	}
}

// maxMessageBytes is the size of the messages after which no more are yielded: a caller that shows the oldest first holds all of
// them.
const maxMessageBytes = 24 << 20

// Size returns how many bytes the texts of a message take.
func (m Message) Size() int {
	n := len(m.Text)
	if m.Tool != nil {
		n += len(m.Tool.Input) + len(m.Tool.Brief) + len(m.Tool.Output)
	}
	return n
}

// endsTurn reports whether no call before this message can still run.
func (m Message) endsTurn() bool {
	return m.Role == RoleUser && m.Kind == KindText || m.Kind == KindInterruption
}

// openTurnBegan returns when the turn that a process shows as open began: what the user says during it does not end it. It is zero if
// no process shows that.
func (s Session) openTurnBegan() (began time.Time) {
	for _, e := range s.Evidence {
		if e.Accepted && e.Turn != nil && (e.Turn.State == TurnOpen || e.Turn.State == TurnWaiting) && s.Status != Stopped {
			began = e.Turn.Began
		}
	}
	return began
}

// openCall returns the state of a call without a result. over: a later turn has begun.
func (s Session) openCall(over bool) ToolState {
	switch {
	case over:
		return ToolInterrupted
	case s.Status == Waiting:
		return ToolWaiting
	case s.Status == Running || s.Status == Unknown:
		return ToolRunning
	}
	return ToolInterrupted
}
