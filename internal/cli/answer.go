package cli

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/internal/render"
)

// answer returns the last text of the assistant in the turn that was started, as it is stored; "" if there is none. A
// transcript that cannot be read is a warning.
func (b *begun) answer(ctx context.Context, env Env) string {
	if b.session.Path == "" {
		return ""
	}
	text, err := answerIn(b.world.Messages(ctx, b.session), b.session.ID, b.since)
	if err == nil {
		return text
	}
	_ = env.warn([]*discover.Warning{unread(b.session, err)})
	return ""
}

// answerIn returns the newest text of the assistant in a session's newest turn. messages come newest first. The turn
// begins with the newest prompt, and has no message from before since: not every prompt is stored as the person's text.
// Where a part cannot be read before a text is found, the text could be an older one, so there is none.
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
		case m.Role == discover.User:
			return "", nil
		case m.Role == discover.Assistant:
			return m.Text, nil
		}
	}
	return "", nil
}

// printAnswer prints the answer below the ID.
func (env Env) printAnswer(text string) error {
	text = strings.TrimRight(render.CleanText(text), "\n")
	if text == "" {
		return nil
	}
	_, err := fmt.Fprintln(env.Stdout, text)
	return err
}
