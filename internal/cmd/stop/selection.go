package stop

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/internal/cmdutil"
)

// selection has the flags that select sessions instead of IDs; a session must match all of them.
type selection struct {
	all                bool
	scope              cmdutil.Scope
	idleFor, olderThan time.Duration
}

// matches checks the conditions on time. The idle time counts from the last activity, the age from the start of the
// process: the session may have been resumed.
func (o *selection) matches(s discover.Session, now time.Time) bool {
	if o.idleFor > 0 && (s.Status != discover.Idle || now.Sub(s.LastActivity()) < o.idleFor) {
		return false
	}
	if o.olderThan == 0 {
		return true
	}
	began := s.Created
	if len(s.Processes) > 0 && !s.Processes[0].Started.IsZero() {
		began = s.Processes[0].Started
	}
	return !began.IsZero() && now.Sub(began) >= o.olderThan
}

// confirmed shows on the terminal what will be ended, and asks; any answer but yes is a no.
func confirmed(ctx context.Context, f cmdutil.Factory, question string, show func(io.Writer) error) error {
	if err := show(f.Stderr); err != nil {
		return err
	}
	fmt.Fprintf(f.Stderr, "%s [y/N] ", question)
	answer := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(f.Stdin).ReadString('\n') // its end is a no
		answer <- strings.ToLower(strings.TrimSpace(text))
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case a := <-answer:
		if a != "y" && a != "yes" {
			return cmdutil.AnswerNo("nothing was stopped")
		}
	}
	return nil
}
