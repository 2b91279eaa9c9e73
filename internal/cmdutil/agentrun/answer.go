package agentrun

import (
	"context"
	"iter"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/internal/cmdutil"
)

// ReadAnswer returns the last text of the assistant in the turn that was started, as stored; "" if there is none. An
// unreadable transcript is a warning.
func (l *Launched) ReadAnswer(ctx context.Context) string {
	if l.Session.Path == "" {
		return ""
	}
	text, err := answerIn(l.Scanner.Messages(ctx, l.Session), l.Session.ID, l.execution.StartTime)
	if err != nil {
		_ = l.ReportWarnings([]*discover.Warning{cmdutil.UnreadWarning(l.Session, err)})
	}
	return text
}

// answerIn returns the newest text of the assistant in a session's newest turn. messages come newest first. The turn
// begins with the newest prompt, and no message of it is older than since: not every prompt is stored as the user's
// text. If a part cannot be read before a text is found, the text could be an older one, so answerIn returns none.
func answerIn(messages iter.Seq2[discover.Message, error], session string, since time.Time) (string, error) {
	for m, err := range messages {
		if err != nil {
			return "", err
		}
		switch {
		case m.Session != session: // a sub-agent's
		case !m.Time.IsZero() && m.Time.Before(since), m.Kind == discover.KindInterruption:
			return "", nil
		case m.Kind != discover.KindText || strings.TrimSpace(m.Text) == "":
		case m.Role == discover.RoleUser:
			return "", nil
		case m.Role == discover.RoleAssistant:
			return m.Text, nil
		}
	}
	return "", nil
}
